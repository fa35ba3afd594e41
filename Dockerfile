# The command alone, in an image without a system. Build the commands first: make release
#
#   docker build --platform linux/amd64 -t halfspace .
#   docker run --rm -v "$PWD:/data" halfspace train train.csv --label y --out m.json
FROM scratch
ARG TARGETARCH=amd64
COPY tmp/release/linux/${TARGETARCH}/halfspace /halfspace
COPY LICENSE cmd/internal/cli/licenses.txt /licenses/
WORKDIR /data
ENTRYPOINT ["/halfspace"]
