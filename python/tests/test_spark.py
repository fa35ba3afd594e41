"""Tests on clusters of Spark: two executors on this computer. `make spark` installs pyspark and runs them.

HALFSPACE_SPARK_KILLS is the number of processes that test_kills kills.
"""

import contextlib
import importlib.util
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import urllib.parse
import urllib.request
import uuid
from pathlib import Path

import numpy as np
import pytest

pyspark = pytest.importorskip("pyspark")
import halfspace  # noqa: E402
import halfspace.spark  # noqa: E402
from conftest import FULL, ROOT  # noqa: E402

KILLS = int(os.environ.get("HALFSPACE_SPARK_KILLS", "3"))
ENVIRONMENT = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost", "PYSPARK_PYTHON": sys.executable}
os.environ.update(ENVIRONMENT)


def session(master, **conf):
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master(master).appName("halfspace")
    for name, value in {"spark.ui.enabled": "false", "spark.deploy.maxExecutorRetries": "-1", "spark.sql.shuffle.partitions": "4", **conf}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


@pytest.fixture(scope="module")
def bucket():
    """Return the variables of the environment with which s3://rows is a bucket of the server moto."""
    if importlib.util.find_spec("moto") is None:
        yield {}
        return
    with socket.socket() as one:
        one.bind(("localhost", 0))
        port = one.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "moto.server", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: _listens(port))
    address = f"http://127.0.0.1:{port}"
    urllib.request.urlopen(urllib.request.Request(f"{address}/rows", method="PUT")).close()
    yield {"AWS_ENDPOINT_URL": address, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
           "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    server.kill()
    server.wait()


@pytest.fixture(scope="module")
def spark(bucket):
    # the executors must have no command of their own: the driver sends it
    environment = {"HALFSPACE_BINARY": "/nowhere", **bucket}
    spark = session("local-cluster[2,1,1024]", **{f"spark.executorEnv.{name}": value for name, value in environment.items()})
    application = spark.sparkContext.applicationId
    yield spark
    spark.stop()
    shutil.rmtree(Path(pyspark.__file__).parent / "work" / application, ignore_errors=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with data of several kinds."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "dense").mkdir()

    def run(*args):
        subprocess.run([os.environ["HALFSPACE_BINARY"], *map(str, args)], check=True, capture_output=True)
    for seed in range(2):
        run("gen", "--rows", 9000 + seed, "--features", 6, "--noise", 0.1, "--seed", seed, "--out", folder / "dense" / f"{seed}.parquet")
    run("gen", "--rows", 20000, "--features", 60, "--noise", 0.1, "--out", folder / "wide.parquet")
    run("gen", "--rows", 20000, "--features", 6, "--noise", 0.1, "--out", folder / "sparse.svm")
    rng = np.random.default_rng(3)
    x, color = rng.normal(size=(14001, 2)), rng.integers(4, size=14001)
    labels = np.array(["low", "middle", "high"])[np.clip(np.floor(x[:, 0] + 1 + color / 4), 0, 2).astype(int)]
    with open(folder / "mixed.csv", "w") as file:
        file.write("x,y,color,label\n")
        for row, number, label in zip(x, color, labels):
            file.write(f"{row[0]},{'' if row[1] > 1 else row[1]},color {number},{label}\n")
    run("convert", folder / "mixed.csv", "--out", folder / "mixed.parquet")
    return folder


def same(spark, path, **options):
    """Train on the cluster and on this machine, and compare the models."""
    want = halfspace.train(path, "label", progress=False, **options)
    got = halfspace.spark.train(spark, path, "label", progress=False, **options)
    assert got.text == want.text, options


DENSE = [dict(algo="lda", standardize=True), dict(algo="logistic", l2=1, class_weight="balanced"), dict(algo="svm"), dict(algo="logistic", l2=1, cv=3),
         dict(algo="averaged", shards=3, order="shuffle", epochs=3), dict(algo="pocket", shards=2, epochs=3, mix="mistakes"),
         dict(algo="logistic", l2=1, validation=0.2, memory="64MiB")]
MORE = [dict(algo="svm", loss="hinge", epochs=5), dict(algo="logistic", solver="truncated", l2=1, epochs=5), dict(algo="adagrad", shards=2, epochs=2),
        dict(algo="arow", shards=2, epochs=2), dict(algo="passive_aggressive".replace("_", "-"), shards=2, epochs=2), dict(algo="perceptron", shards=2, epochs=2),
        dict(algo="logistic", solver="sgd", shards=2, epochs=2), dict(algo="logistic", l1=1), dict(algo="ftrl", epochs=2)]


@pytest.mark.parametrize("options", DENSE + (MORE if FULL else []), ids=str)
def test_dense(spark, files, options):
    same(spark, files / "dense", **options)


@pytest.mark.parametrize("options", [dict(algo="logistic", l2=1), dict(algo="averaged", shards=2, epochs=2)], ids=str)
def test_sparse(spark, files, options):
    same(spark, files / "sparse.svm", **options)


@pytest.mark.parametrize("options", [dict(), dict(algo="averaged", shards=2, epochs=3, nulls="zero", categorical="hash:20"), dict(algo="lda")], ids=str)
def test_prepared(spark, files, options):
    """Three classes, texts and missing numbers."""
    same(spark, files / "mixed.parquet", **options)


@pytest.fixture
def in_bucket(bucket, monkeypatch):
    """Return a function that puts the files of a folder into the bucket, and returns the folder's URL."""
    if not bucket:
        pytest.skip("the package moto is missing: make spark installs it")
    for name, value in bucket.items():
        monkeypatch.setenv(name, value)

    def put(folder):
        name = f"{folder.name}-{uuid.uuid4().hex}"  # moto lets nobody without a key replace an object
        for path in folder.rglob("*"):
            if path.is_file():
                url = f"{bucket['AWS_ENDPOINT_URL']}/rows/{name}/{urllib.parse.quote(str(path.relative_to(folder)))}"
                request = urllib.request.Request(url, path.read_bytes(), {"Content-Type": "application/octet-stream"}, method="PUT")
                urllib.request.urlopen(request).close()
        return f"s3://rows/{name}"
    return put


def test_bucket(spark, files, in_bucket):
    """Objects of a bucket, which the executors read, have the model of the files."""
    url = in_bucket(files / "dense")
    for options in dict(algo="logistic", l2=1, standardize=True), dict(algo="averaged", shards=3, epochs=2):
        want = halfspace.train(files / "dense", "label", progress=False, **options)
        assert halfspace.spark.train(spark, url, "label", progress=False, **options).text == want.text


@pytest.mark.filterwarnings("ignore::halfspace.HalfspaceWarning")
def test_lake(spark, files, tmp_path, in_bucket):
    """A Delta table with deleted rows, and a column in the names of its folders, in a folder and in a bucket, has the model of one machine."""
    lake = pytest.importorskip("deltalake")
    import pyarrow
    import pyarrow.parquet
    for number in range(2):
        rows = pyarrow.parquet.read_table(files / "dense" / f"{number}.parquet")
        rows = rows.append_column("site", pyarrow.array([f"site {at % 3}" for at in range(rows.num_rows)]))
        lake.write_deltalake(str(tmp_path / "table"), rows, mode="append", partition_by=["site"])
    lake.DeltaTable(str(tmp_path / "table")).delete("x0 > 1")
    for path in tmp_path / "table", in_bucket(tmp_path / "table"):
        same(spark, path, algo="logistic", l2=1)
        same(spark, path, algo="averaged", shards=2, epochs=2, order="shuffle")


def processes(spark):
    """Return the numbers of the Java processes of the executors, and of the processes of the command, by executor."""
    executors, commands = [], {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_text().split("\0")
            if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and spark.sparkContext.applicationId in words:
                executors.append(int(folder.name))
            if "worker" in words and "--parent" in words:
                commands[int(words[words.index("--parent") + 1])] = int(folder.name)
    return executors, {number: commands[number] for number in executors if number in commands}


def until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.05)


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_process(spark, files):
    """An executor has one process of the command, which stays from one training to the next."""
    same(spark, files / "dense", algo="lda")
    executors, commands = processes(spark)
    assert len(executors) == 2 and set(commands) == set(executors)
    same(spark, files / "dense", algo="svm")
    assert processes(spark)[1] == commands


def test_checkpoint(spark, files, tmp_path):
    """A training that Ctrl-C ends in the driver goes on from its checkpoint, on a cluster or on one machine."""
    options = dict(algo="averaged", shards=4, epochs=40, order="shuffle")
    want = halfspace.train(files / "dense", "label", progress=False, **options)
    script = textwrap.dedent(f"""
        import signal, sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import conftest, test_spark, halfspace, halfspace.spark
        spark = test_spark.session("local-cluster[2,1,1024]")
        halfspace.spark.train(spark, {str(files / "dense")!r}, "label", algo="lda")
        print(spark.sparkContext.applicationId, flush=True)
        try:
            halfspace.spark.train(spark, {str(files / "dense")!r}, "label", checkpoint={str(tmp_path / "c")!r}, checkpoint_every=1, **{options!r})
        except halfspace.Interrupted as error:
            print("interrupted", error.model, flush=True)
        model = halfspace.spark.train(spark, {str(files / "dense")!r}, "label", checkpoint={str(tmp_path / "c")!r}, resume=True, **{options!r})
        model.save({str(tmp_path / "m.json")!r})
        """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True)
    application = process.stdout.readline().strip()
    until(lambda: any((tmp_path / "c").glob("**/*")) if (tmp_path / "c").exists() else False)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0 and "interrupted" in said, said
    assert halfspace.Model.load(tmp_path / "m.json").text == want.text

    def left():
        return [path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline") if application in _read(path)]
    until(lambda: not left())


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_interrupt(spark, files):
    """Ctrl-C ends a training whose pass waits for executors that others keep busy. pyspark's own handler would end their jobs too."""
    context = spark.sparkContext
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    same(spark, files / "dense", algo="lda")

    def keep_busy():
        context.setJobGroup("busy", "busy", interruptOnCancel=True)
        with contextlib.suppress(Exception):
            context.parallelize(range(2), 2).foreach(lambda _: time.sleep(100))
    busy = threading.Thread(target=keep_busy)
    try:
        busy.start()
        until(lambda: len(context.statusTracker().getActiveJobsIds()) == 1)
        timer = threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(halfspace.Interrupted):
            halfspace.spark.train(spark, files / "dense", "label", algo="lda", progress=False)
        assert busy.is_alive()
    finally:
        signal.signal(signal.SIGINT, before)
        context.cancelJobGroup("busy")
        busy.join()
    same(spark, files / "dense", algo="lda")


def _read(path):
    try:
        return path.read_text()
    except OSError:
        return ""


def train_while(spark, path, options, act):
    """Train while another thread acts, and return the model or the error."""
    thread = threading.Thread(target=act)
    thread.start()
    try:
        return halfspace.spark.train(spark, path, "label", progress=False, **options)
    except halfspace.HalfspaceError as error:
        return error
    finally:
        thread.join()


def test_kills(spark, files):
    """Executors and processes of the command that are killed at random moments change no bit, and nothing is left of them."""
    options = dict(algo="averaged", shards=4, epochs=20)
    want = halfspace.train(files / "dense", "label", progress=False, **options)
    same(spark, files / "dense", algo="lda")
    rng, killed, table = random.Random(KILLS), [], []
    for number in range(KILLS):
        until(lambda: len(processes(spark)[0]) == 2)
        if len(processes(spark)[1]) < 2:
            same(spark, files / "dense", algo="lda")
        executors, commands = processes(spark)
        victim = rng.choice(executors) if number % 2 else rng.choice(list(commands.values()) or executors)
        moment = rng.uniform(0, 4)

        def act():
            time.sleep(moment)
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        begin = time.monotonic()
        got = train_while(spark, files / "dense", options, act)
        killed += [victim, *([commands[victim]] if victim in commands else [])]
        table.append(f"{'executor' if number % 2 else 'command'} after {moment:.2f} s of {time.monotonic() - begin:.1f} s")
        assert isinstance(got, halfspace.Model) and got.text == want.text, (table, got)
    print("\n".join(table))
    until(lambda: not any(map(alive, killed)))


def sentence(spark, path, label="label", **options):
    with pytest.raises(halfspace.HalfspaceError) as error:
        halfspace.spark.train(spark, path, label, progress=False, **options)
    assert "\n" not in str(error.value) and "Traceback" not in str(error.value) and "Py4J" not in str(error.value)
    return str(error.value)


def test_bad_input(spark, files, tmp_path):
    """Bad input has the sentence of one machine."""
    damaged = tmp_path / "damaged.parquet"
    whole = (files / "dense" / "0.parquet").read_bytes()
    damaged.write_bytes(whole[:-1000])
    for path, label in (files / "none.parquet", "label"), (files / "dense", "none"), (damaged, "label"):
        with pytest.raises(halfspace.HalfspaceError) as want:
            halfspace.train(path, label, algo="lda", progress=False)
        assert sentence(spark, path, label, algo="lda") == str(want.value)


def test_memory(spark, files):
    said = sentence(spark, files / "wide.parquet", algo="averaged", shards=2, worker_memory="1m")
    needed = re.search(r"executor .* of the rows take .*: give (\d+) MiB with worker_memory or spark", said)
    got = halfspace.spark.train(spark, files / "wide.parquet", "label", progress=False, algo="averaged", shards=2, worker_memory=f"{needed[1]}m")
    assert got.text == halfspace.train(files / "wide.parquet", "label", progress=False, algo="averaged", shards=2).text


def test_causes(tmp_path, monkeypatch):
    """A process that can't be reached or started, and a task that fails, are errors that name the executor and the cause."""
    from halfspace import _executor
    command = tmp_path / "halfspace"
    command.write_text("")
    monkeypatch.setenv("HALFSPACE_BINARY", str(command))
    with pytest.raises(_executor.Lost, match="executor on host .*: .*halfspace does not start: .*Permission denied"):
        _executor.ask(_executor.Setup("", ""), [b"compute"])
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(_executor.Lost, match="executor on host .*: .*No such file or directory: '/nowhere/"):
        _executor.ask(_executor.Setup("", ""), [b"compute"])
    failed = ("Job aborted due to stage failure: Task 1 in stage 6.0 failed 4 times, most recent failure: Lost task 1.3 in stage 6.0 (TID 12) (10.0.0.7 executor 3): "
              "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"x.py\", line 1, in store\nOSError: [Errno 28] No space left on device\n")
    assert halfspace.spark._cause(Exception(failed)) == "executor 3 on host 10.0.0.7: a Python worker of Spark failed: OSError: [Errno 28] No space left on device"


def test_changed(spark, tmp_path, files):
    """Another file on the executors than the driver saw ends the training, and the sentence names an executor."""
    path = tmp_path / "a.parquet"
    shutil.copy(files / "dense" / "0.parquet", path)

    def act():
        time.sleep(1)
        path.unlink()
    options = dict(algo="averaged", shards=2, epochs=100)
    error = train_while(spark, path, options, act)
    assert isinstance(error, halfspace.HalfspaceError) and "executor" in str(error) and "a.parquet" in str(error), error


def test_version(spark, files, monkeypatch):
    """A worker of another version refuses the driver's passes."""
    other = os.environ.get("HALFSPACE_OTHER_BINARY")
    if not other:
        pytest.skip("HALFSPACE_OTHER_BINARY is no command of another version")
    own = os.environ["HALFSPACE_BINARY"]
    monkeypatch.setattr(halfspace.spark, "binary", lambda: own)  # that the driver sends
    monkeypatch.setenv("HALFSPACE_BINARY", other)
    said = sentence(spark, files / "dense", algo="lda")
    assert "executor" in said and "install one version everywhere" in said


def frame_of(spark, path, partitions):
    """Return the rows of a file as a DataFrame whose partitions have uneven sizes, and the same rows for one machine."""
    from pyspark.sql.functions import col
    frame = spark.read.parquet(str(path)).repartition(partitions, col("x0")).sortWithinPartitions("x0", "x1").persist()
    return frame, frame.toArrow()


@pytest.mark.parametrize("options", [dict(algo="logistic", l2=1), dict(algo="lda", standardize=True), dict(algo="averaged", shards=3, epochs=3), dict(),
                                     dict(algo="logistic", l2=1, cv=2), dict(algo="ftrl", epochs=2), dict(algo="logistic", l2=1, validation=0.2)], ids=str)
def test_frame(spark, files, options):
    """A DataFrame has the model of the same rows in its order on one machine."""
    frame, table = frame_of(spark, files / "dense", 5)
    try:
        want = halfspace.train(table, "label", progress=False, **options)
        got = halfspace.spark.train(spark, frame, "label", progress=False, **options)
        assert got.text == want.text
    finally:
        frame.unpersist()


def test_frame_without_rows(spark, files):
    """A training that leaves rows of a DataFrame out is an error that says so."""
    frame = spark.read.parquet(str(files / "dense"))
    assert "leave the others out of the DataFrame" in sentence(spark, frame, "label", algo="lda", where="x0 > 0")


def test_frame_kills(spark, files):
    """Rows of a DataFrame that are lost with an executor are computed again."""
    options = dict(algo="averaged", shards=4, epochs=30)
    frame, table = frame_of(spark, files / "dense", 3)
    want = halfspace.train(table, "label", progress=False, **options)
    same(spark, files / "dense", algo="lda")
    for kind in range(2):
        until(lambda: len(processes(spark)[0]) == 2)
        executors, commands = processes(spark)
        victim = executors[0] if kind else next(iter(commands.values()), executors[0])

        def act():
            until(lambda: any(Path(tempfile.gettempdir()).glob("**/*-parts-*/*/*.parquet")))
            time.sleep(1)
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        got = train_while(spark, frame, options, act)
        assert isinstance(got, halfspace.Model) and got.text == want.text, got
    frame.unpersist()


@pytest.fixture(scope="module")
def vectors(spark, files):
    """Return a DataFrame with a column of vectors, and one of weights."""
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql.functions import col
    rows = spark.read.parquet(str(files / "dense")).repartition(4, col("x0"))
    rows = VectorAssembler(inputCols=[f"x{i}" for i in range(6)], outputCol="features").transform(rows).withColumn("w", col("x1") * 0 + 2.0)
    return rows.persist()


def test_estimator(spark, vectors, tmp_path):
    """A Pipeline with a CrossValidator, saved, loaded and scored."""
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator
    from pyspark.ml.feature import StandardScaler
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
    scaler = StandardScaler(inputCol="features", outputCol="scaled")
    learner = halfspace.spark.LogisticRegression(featuresCol="scaled", labelCol="label", l2=1.0)
    folds = CrossValidator(estimator=learner, estimatorParamMaps=ParamGridBuilder().addGrid(learner.l2, [0.1, 10.0]).build(),
                           evaluator=BinaryClassificationEvaluator(labelCol="label"), numFolds=2, seed=1)
    model = Pipeline(stages=[scaler, folds]).fit(vectors)
    model.write().overwrite().save(str(tmp_path / "model"))
    scored, again = model.transform(vectors), PipelineModel.load(str(tmp_path / "model")).transform(vectors)
    assert MulticlassClassificationEvaluator(labelCol="label", metricName="accuracy").evaluate(scored) > 0.6
    columns = ["label", "prediction", "probability", "rawPrediction"]
    assert scored.select(columns).collect() == again.select(columns).collect()
    learner.write().overwrite().save(str(tmp_path / "learner"))
    assert halfspace.spark.LogisticRegression.load(str(tmp_path / "learner")).getOrDefault("l2") == 1.0


def test_columns(spark, files, vectors):
    """Features of a vector and of a list of columns, weights, and predictions are those of one machine."""
    table = vectors.drop("features").toArrow()
    names = [f"x{i}" for i in range(6)]
    of_list = halfspace.spark.LDA(featuresCol=names, labelCol="label").fit(vectors)
    want = halfspace.train(table.select([*names, "label"]), "label", algo="lda", progress=False)
    assert of_list.model.text == want.text
    of_vector = halfspace.spark.LogisticRegression(l2=1.0, weightCol="w", probabilityCol="p").fit(vectors)
    want = halfspace.train(table.select([*names, "label", "w"]), "label", algo="logistic", l2=1, sample_weight="w", progress=False)
    np.testing.assert_array_equal(of_vector.model.weights, want.weights)
    rows = of_vector.transform(vectors).select("x0", "prediction", "p").toPandas()
    np.testing.assert_array_equal(rows["prediction"], want.predict(table.select(names)))
    np.testing.assert_array_equal(np.stack([row.toArray() for row in rows["p"]]).astype(np.float32), want.predict_proba(table.select(names)))
    online = halfspace.spark.Perceptron(epochs=3).fit(vectors)
    want = halfspace.train(table.select([*names, "label"]), "label", algo="perceptron", epochs=3, shards=5, progress=False)
    np.testing.assert_array_equal(online.model.weights, want.weights)
    with pytest.raises(halfspace.HalfspaceError, match="no column 'none'"):
        halfspace.spark.LinearSVC(labelCol="none").fit(vectors)
    with pytest.raises(halfspace.HalfspaceError, match="'label' is named twice"):
        halfspace.spark.LinearSVC(featuresCol=["x0", "label"]).fit(vectors)
    for features, why in (["x0", "text"], "'text' of featuresCol has values of type string"), (["x0", "y0"], "no column 'y0'"):
        with pytest.raises(halfspace.HalfspaceError, match=why):
            halfspace.spark.LinearSVC(featuresCol=features).fit(vectors.selectExpr("x0", "label", "'a' as text"))
    for change, why in (("x0", "no column 'x1'"), ("*, 1 as Prediction", "a column 'prediction' already"), ("x0, string(x1), x2, x3, x4, x5", "'x1' of featuresCol")):
        with pytest.raises(halfspace.HalfspaceError, match=why):
            of_list.transform(vectors.selectExpr(*change.split(", ")))
    for rows in None, table:
        with pytest.raises(halfspace.HalfspaceError, match="give a DataFrame of Spark"):
            halfspace.spark.LDA(featuresCol=names).fit(rows)
    with pytest.raises(halfspace.HalfspaceError, match="'text' of weightCol has values of type string: give numbers$"):
        halfspace.spark.LDA(featuresCol=names, weightCol="text").fit(vectors.selectExpr("*", "'a' as text"))
    with pytest.raises(halfspace.HalfspaceError, match='^the DataFrame: column "label", row .*: null .*as dropna does'):
        halfspace.spark.LDA(featuresCol=names).fit(vectors.selectExpr(*names, "if(x0 > 1, null, label) as label"))
    with pytest.raises(halfspace.HalfspaceError, match="doesn't take"):
        halfspace.spark.LDA(featuresCol=names, nulls="drop").fit(vectors)
    with pytest.raises(halfspace.HalfspaceError, match="give the SparkSession first"):
        halfspace.spark.train(files / "dense", "label")
    with pytest.raises(halfspace.HalfspaceError, match="null .*with nulls zero or mean"):
        halfspace.spark.LinearSVC(featuresCol=["x0", "x1"]).fit(vectors.selectExpr("if(x0 > 1, null, x0) as x0", "x1", "label"))


def test_sparse_vectors(spark):
    """Sparse vectors, and labels that are texts."""
    from pyspark.ml.linalg import Vectors
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(5000):
        at = sorted(rng.choice(300, size=6, replace=False).tolist())
        rows.append((Vectors.sparse(300, at, [1.0] * 6), "yes" if sum(at) > 900 else "no"))
    frame = spark.createDataFrame(rows, ["features", "label"])
    model = halfspace.spark.LinearSVC().fit(frame)
    scored = model.transform(frame).toPandas()
    assert (scored["prediction"] == scored["label"]).mean() > 0.9 and "probability" not in scored
    for other in Vectors.sparse(299, [1], [1.0]), Vectors.dense([1.0, 2.0]):
        with pytest.raises(Exception, match="and the model takes 300"):
            model.transform(spark.createDataFrame([(other,)], ["features"])).collect()
    with pytest.raises(halfspace.HalfspaceError, match="a vector of 2, where others have 3"):
        halfspace.spark.LinearSVC().fit(spark.createDataFrame([(Vectors.dense(range(2 + n % 2)), n % 2) for n in range(9)], ["features", "label"]))


def test_command(files, tmp_path):
    """python -m halfspace.spark trains as the command does, and so does the file itself, as spark-submit runs it."""
    data, out = files / "dense", tmp_path / "m.json"
    want = halfspace.train(data, "label", algo="lda", progress=False)
    for module in ["-m", "halfspace.spark"], [halfspace.spark.__file__]:
        done = subprocess.run([sys.executable, *module, "--master", "local[2]", "--conf", "spark.ui.enabled=false", "train", str(data), "--label", "label",
                               "--algo", "lda", "--out", str(out)], capture_output=True, text=True)
        assert done.returncode == 0 and "lda" in done.stdout, done.stderr[-2000:]
        assert halfspace.Model.load(out).text == want.text
        out.unlink()


def test_lines(files, tmp_path, in_bucket):
    """The command lines of docs/distributed.md train as the command does, with other data and another master."""
    document = (ROOT / "docs" / "distributed.md").read_text()
    for program, options, changes in (
            ("spark-submit", dict(algo="lda"), {"DATA": files / "dense", "--label y": "--label label --algo lda"}),
            ("python -m", dict(algo="averaged", shards=4), {"spark://HOST:7077": "'local[2]'", "s3://bucket/train": in_bucket(files / "dense"), "--label y": "--label label",
                                                            "--shards 8": "--shards 4"})):
        line = re.search(f"^{program} .*$", document, re.MULTILINE)[0]
        for before, after in {**changes, "m.json": tmp_path / "m.json"}.items():
            assert before in line
            line = line.replace(before, str(after))
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env={**os.environ, "PATH": path})
        assert done.returncode == 0 and options["algo"] in done.stdout, done.stderr[-2000:]
        assert halfspace.Model.load(tmp_path / "m.json").text == halfspace.train(files / "dense", "label", progress=False, **options).text
        (tmp_path / "m.json").unlink()


def test_example():
    """The program that docs/distributed.md shows."""
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "python" / "on_spark.py"), str(ROOT / "examples" / "breast-cancer.parquet")],
                          capture_output=True, text=True, env={**os.environ, "PYSPARK_SUBMIT_ARGS": "--master local[2] pyspark-shell"})
    assert done.returncode == 0 and "['prediction', 'rawPrediction', 'probability']" in done.stdout, done.stderr[-2000:]


def test_standalone(files):
    """A standalone master with two workers trains as one machine does."""
    with socket.socket() as one:
        one.bind(("localhost", 0))
        port = one.getsockname()[1]
    home = Path(pyspark.__file__).parent
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        def start(name, *args):
            process = subprocess.Popen([str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *args], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env={**os.environ, "SPARK_HOME": str(home), "SPARK_WORKER_DIR": folder})
            stack.callback(process.wait)
            stack.callback(process.kill)
        start("master.Master", "--host", "localhost", "--port", str(port), "--webui-port", "0")
        until(lambda: _listens(port))
        for _ in range(2):
            start("worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0", f"spark://localhost:{port}")
        script = textwrap.dedent(f"""
            import sys, time
            sys.path.insert(0, {str(Path(__file__).parent)!r})
            import conftest, test_spark, halfspace.spark
            from pathlib import Path
            spark = test_spark.session("spark://localhost:{port}", **{{"spark.executor.memory": "800m"}})
            test_spark.until(lambda: len(test_spark.processes(spark)[0]) == 2)
            for options in dict(algo="logistic", l2=1), dict(algo="averaged", shards=4, epochs=4):
                test_spark.same(spark, Path({str(files / "dense")!r}), **options)
            """)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-3000:]


def _listens(port):
    with socket.socket() as one:
        return one.connect_ex(("localhost", port)) == 0
