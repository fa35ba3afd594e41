#!/usr/bin/env bash
# avx512.sh PACKAGE...: runs the short tests of packages on a CPU with AVX-512 that Bochs emulates.
#
# Bochs starts a Linux kernel whose only process runs the tests. An emulated second takes minutes.
set -euo pipefail
plugins=/usr/lib/x86_64-linux-gnu/bochs/plugins boot=/usr/lib/syslinux/modules/bios/ldlinux.c32
"$(dirname "$0")/need.sh" "which bochs-bin xorriso busybox cpio && ls $plugins/libbx_term_gui.so /usr/lib/ISOLINUX/isolinux.bin $boot" \
	"bochs bochs-term vgabios xorriso busybox-static cpio isolinux syslinux-common" "tests on an emulated CPU"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/root/bin" "$tmp/iso/isolinux"

# The kernel of Debian for virtual machines, without installing it.
(
	cd "$tmp"
	package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p' | head -1)
	apt-get download -qq "$package"
	dpkg-deb -x ./*.deb kernel
	cp kernel/boot/vmlinuz-* iso/vmlinuz
)

for package; do
	name=$(basename "$package")
	CGO_ENABLED=0 go test -c -o "$tmp/root/$name/run" "$package"
	if [ -d "$package/testdata" ]; then cp -r "$package/testdata" "$tmp/root/$name/"; fi
done
cp "$(command -v busybox)" "$tmp/root/bin/"
cat >"$tmp/root/init" <<'END'
#!/bin/busybox sh
PATH=/bin
for tool in mkdir mount poweroff; do busybox ln -s busybox /bin/$tool; done
mkdir -p /proc /tmp /dev
mount -t proc proc /proc
mount -t devtmpfs dev /dev
export HALFSPACE_TEST_REQUIRE=avx2,avx512
for run in /*/run; do
	cd "${run%/run}"
	if ./run -test.short -test.timeout 0 -test.run "$(busybox sed -n 's/.*tests=\([^ ]*\).*/\1/p' /proc/cmdline)"; then
		echo "passed: $run"
	else
		echo "failed: $run"
	fi
done
poweroff -f
END
chmod +x "$tmp/root/init"
(cd "$tmp/root" && find . | cpio --quiet -o -H newc | gzip -1 >../iso/initrd)
cp /usr/lib/ISOLINUX/isolinux.bin $boot "$tmp/iso/isolinux/"
# Bochs 2.7 tells a wrong size of the compact form in which registers are saved. Linux then does without AVX.
cat >"$tmp/iso/isolinux/isolinux.cfg" <<END
DEFAULT linux
LABEL linux
 KERNEL /vmlinuz
 INITRD /initrd
 APPEND console=ttyS0 quiet mitigations=off clearcpuid=xsaves,xsavec lpj=1000000 tsc=reliable tests=${TESTS:-.}
END
xorriso -as mkisofs -quiet -o "$tmp/cd.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 \
	-boot-info-table "$tmp/iso" 2>/dev/null
cat >"$tmp/bochsrc" <<END
display_library: term
plugin_ctrl: serial=1, biosdev=1
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model=corei7_skylake_x, count=1, ips=100000000
memory: guest=1024, host=1024
ata0: enabled=1
ata0-master: type=cdrom, path=$tmp/cd.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$tmp/serial
log: $tmp/log
clock: sync=none
panic: action=fatal
END
echo c >"$tmp/continue" # for Bochs with a debugger, as Debian builds it
touch "$tmp/serial"
tail -f "$tmp/serial" &
TERM=vt100 script -qec "bochs-bin -q -f $tmp/bochsrc -rc $tmp/continue" /dev/null </dev/null >/dev/null || true # powering off is an error to it
kill %1
passed=$(grep -c '^passed: ' "$tmp/serial" || true)
[ "$passed" = $# ] || { echo "tests of $passed of $# packages passed" >&2; exit 1; }
