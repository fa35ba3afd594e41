"""Tables of pandas, polars, Arrow and others: the same models as from arrays, with the types of their columns."""

import io
import warnings

import numpy as np
import pytest

import halfspace
from halfspace import HalfspaceError, HalfspaceWarning, _ipc, _tables

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::halfspace.HalfspaceWarning")

ROWS = 240
RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(ROWS, 3)).astype(np.float32)
LEVELS = RANDOM.randint(0, 4, ROWS)
Y = np.where(X[:, 0] + (LEVELS == 2) + RANDOM.normal(size=ROWS) > 0.5, "yes", "no")


def numbers():
    return pandas.DataFrame(X, columns=list("abc")).assign(d=LEVELS, e=LEVELS > 1)


def polars_frame():
    polars = pytest.importorskip("polars")
    return polars.DataFrame({name: column.to_numpy() for name, column in numbers().items()})


def arrow_table():
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: column.to_numpy() for name, column in numbers().items()})


def run_end_encoded():
    compute = pytest.importorskip("pyarrow.compute")
    table = arrow_table()
    return table.set_column(3, "d", compute.run_end_encode(table["d"]))


def dictionaries():
    table = arrow_table()
    return table.set_column(3, "d", table["d"].dictionary_encode())


def decimals():
    pyarrow = pytest.importorskip("pyarrow")
    table = arrow_table()
    return table.set_column(3, "d", table["d"].cast(pyarrow.decimal128(21, 2)))


# FORMS are the same numbers, for fit.
FORMS = {
    "pandas": numbers, "nullable": lambda: numbers().convert_dtypes(), "objects": lambda: numbers().astype(object),
    "category": lambda: numbers().astype({"d": "category"}), "sparse": lambda: numbers().astype(float).astype("Sparse[float]"),
    "pandas with Arrow": lambda: pytest.importorskip("pyarrow") and numbers().convert_dtypes(dtype_backend="pyarrow"),
    "polars": polars_frame, "lazy": lambda: polars_frame().lazy(),
    "arrow": arrow_table, "batch": lambda: arrow_table().to_batches()[0], "reader": lambda: arrow_table().to_reader(),
    "run ends": run_end_encoded, "dictionaries": dictionaries, "decimals": decimals,
    "narwhals": lambda: pytest.importorskip("narwhals").from_native(polars_frame()),
    "lazy narwhals": lambda: pytest.importorskip("narwhals").from_native(polars_frame().lazy()),
    "narwhals of pandas": lambda: pytest.importorskip("narwhals").from_native(numbers()),
    "duckdb": lambda: pytest.importorskip("duckdb").from_arrow(arrow_table()),
    "nanoarrow": lambda: pytest.importorskip("nanoarrow").Array(arrow_table().to_batches()[0]),
    "stream": lambda: pytest.importorskip("nanoarrow").ArrayStream(arrow_table().to_reader()),
}


@pytest.mark.parametrize("form", FORMS)
def test_fit(form):
    expected = halfspace.LogisticRegression().fit(numbers().to_numpy(float), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        table = FORMS[form]()
        estimator = halfspace.LogisticRegression().fit(table, Y)
        scores = estimator.decision_function(FORMS[form]())
    assert estimator.feature_names_in_.tolist() == list("abcde")
    assert estimator.model_ == expected.model_
    assert (scores == expected.decision_function(numbers().to_numpy(float))).all()


@pytest.mark.parametrize("form", FORMS)
def test_labels_beside_a_table(form):
    """train takes X and y as fit does, with weights, and so does evaluate."""
    frame = numbers()
    if form in ("category", "dictionaries"):
        frame = frame.astype({"d": "category"})
    elif form == "sparse":
        frame = frame.astype(float)
    expected = halfspace.train(frame.assign(label=Y, weight=LEVELS + 1.0), "label", sample_weight="weight", algo="logistic")
    model = halfspace.train(FORMS[form](), Y, sample_weight=LEVELS + 1, algo="logistic")
    assert model.document["weights"] == expected.document["weights"] and model.features == expected.features
    assert (model.predict(FORMS[form]()) == expected.predict(frame)).all()
    assert model.evaluate(FORMS[form](), Y)["errors"] == (model.predict(frame) != Y).sum()


@pytest.mark.parametrize("convert", [list, np.asarray, pandas.Series, lambda y: pandas.Series(y, dtype="category"), lambda y: pandas.DataFrame({"z": y}),
                                     lambda y: pytest.importorskip("polars").Series(y), lambda y: pytest.importorskip("pyarrow").array(y),
                                     lambda y: pytest.importorskip("pyarrow").chunked_array([y[:9], y[9:]])])
def test_kinds_of_labels(convert):
    expected = halfspace.train(numbers(), Y)
    assert halfspace.train(numbers(), convert(Y)).document["weights"] == expected.document["weights"]
    assert halfspace.train(X, convert(Y), algo="lda") == halfspace.train(X, Y, algo="lda")
    assert halfspace.LDA().fit(numbers(), convert(Y)).model_ == halfspace.LDA().fit(numbers(), Y).model_


def test_name_of_labels():
    """The label has the name of the Series, or another one if a feature has that name."""
    assert halfspace.train(numbers(), pandas.Series(Y, name="left")).document["label"] == "left"
    model = halfspace.train(numbers(), pandas.Series(Y, name="a"))
    assert model.document["label"] == "a_" and model.features == list("abcde")
    assert halfspace.check(numbers(), Y).document["rows"] == ROWS
    assert halfspace.compare(numbers(), Y, algo="lda", cv=2).learners


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_label_that_is_a_column(library):
    """train(table, table["left"]) means the column, which is no feature."""
    frame = numbers().assign(left=Y)
    if library != "pandas":
        module = pytest.importorskip(library)
        columns = {name: column.to_numpy() for name, column in frame.items()}
        frame = module.DataFrame(columns) if library == "polars" else module.table(columns)
    label = frame["left"] if library != "pyarrow" else "left"
    model = halfspace.train(frame, label)
    assert model.document["label"] == "left" and model.features == list("abcde")


def test_labels_of_another_length():
    with pytest.raises(HalfspaceError, match="label has 3 values, and data has 240 rows"):
        halfspace.train(numbers(), [0, 1, 0])
    with pytest.raises(HalfspaceError, match="sample_weight has the shape"):
        halfspace.train(numbers(), Y, sample_weight=[1, 2])


REFUSED = {
    "datetime64": (lambda: numbers().assign(t=pandas.Timestamp("2020-01-01")), "'t' of X is of type datetime64"),
    "NaT": (lambda: numbers().assign(t=pandas.NaT), "'t' of X is of type datetime64"),
    "timedelta64": (lambda: numbers().assign(t=pandas.Timedelta("1s")), "'t' of X is of type timedelta64"),
    "time zone": (lambda: numbers().assign(t=pandas.Timestamp("2020-01-01", tz="UTC")), "'t' of X is of type datetime64"),
    "dates as objects": (lambda: numbers().assign(t=pandas.Timestamp("2020-01-01")).to_numpy(), "halfspace.train makes features of dates"),
    "array of dates": (lambda: np.zeros((ROWS, 2), "M8[s]"), "X is of type datetime64.*halfspace.train"),
    "array of durations": (lambda: np.zeros((ROWS, 2), "m8[s]"), "X is of type timedelta64.*halfspace.train"),
    "text": (lambda: numbers().assign(t="abc"), "could not convert str to float: column 't' of X has 'abc' in row 0"),
    "category of text": (lambda: numbers().assign(t=pandas.Categorical(["abc"] * ROWS)), "could not convert str to float: column 't'"),
    "missing": (lambda: numbers().assign(t=np.where(np.arange(ROWS) == 7, np.nan, 1)), "Input X contains NaN in column 't', row 7.*halfspace.train"),
    "infinite": (lambda: numbers().assign(t=np.where(np.arange(ROWS) == 7, -np.inf, 1)), "Input X contains infinity in column 't', row 7"),
    "too large": (lambda: numbers().assign(t=1e39), "X has 1e[+]39 in row 0, column 5"),
    "masked": (lambda: np.ma.masked_array(X, X > 2), "X is masked in row"),
    "polars dates": (lambda: polars_frame().with_columns(t=pytest.importorskip("polars").date(2020, 1, 1)), "'t' of X is of type Date"),
    "polars text": (lambda: polars_frame().with_columns(t=pytest.importorskip("polars").lit("abc")), "column 't' of X has 'abc'"),
    "arrow times": (lambda: arrow_table().append_column("t", pytest.importorskip("pyarrow").array([0] * ROWS, "timestamp[s]")), "timestamp"),
    "arrow structs": (lambda: arrow_table().append_column("t", [[{"a": 1}] * ROWS]), "struct"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_fit_refuses(case):
    make, sentence = REFUSED[case]
    estimator = halfspace.LogisticRegression().fit(np.asarray(numbers(), float), Y)
    for call in lambda: halfspace.LogisticRegression().fit(make(), Y), lambda: halfspace.Perceptron().partial_fit(make(), Y):
        with pytest.raises((HalfspaceError, TypeError), match=sentence):
            call()
    if case not in ("missing", "infinite"):
        estimator.n_features_in_ = np.shape(make())[1] if hasattr(make(), "shape") else 6
        with pytest.raises((HalfspaceError, TypeError), match=sentence):
            estimator.predict(make())


def with_levels(column):
    return pandas.DataFrame({"x": X[:, 0], "k": column, "y": Y})


CATEGORIES = {
    "integers": lambda: with_levels(pandas.Categorical(LEVELS)), "floats": lambda: with_levels(pandas.Categorical(LEVELS * 0.5)),
    "digits": lambda: with_levels(pandas.Categorical(LEVELS.astype(str))), "texts": lambda: with_levels(pandas.Categorical(np.array(list("abcd"))[LEVELS])),
    "dictionary": lambda: pytest.importorskip("pyarrow").table({"x": X[:, 0], "k": pytest.importorskip("pyarrow").array(LEVELS).dictionary_encode(), "y": Y}),
    "polars Categorical": lambda: polars_levels("Categorical"), "polars Enum": lambda: polars_levels("Enum")}


def polars_levels(kind):
    polars = pytest.importorskip("polars")
    kind = polars.Categorical if kind == "Categorical" else polars.Enum(list("0123"))
    return polars.DataFrame({"x": X[:, 0], "k": polars.Series(LEVELS.astype(str)).cast(kind), "y": Y})


@pytest.mark.parametrize("case", CATEGORIES)
def test_categories_stay_categories(case):
    table = CATEGORIES[case]()
    model = halfspace.train(table, "y", algo="logistic")
    assert len(model.features) == 5 and all(name.startswith("k=") for name in model.features[1:])
    assert (model.predict(table) == Y).mean() > 0.7
    for options in {"exclude": "k"}, {"exclude": ["k*"]}, {"features": ["x"]}, {"prepare": "none", "exclude": "k"}:
        assert halfspace.train(table, "y", **options).features == ["x"]
    assert all("k#hash" in name for name in halfspace.train(table, "y", type={"k": "hash:4"}).features[1:])
    assert halfspace.compare(table, "y", algo="lda", cv=2).document["features"] == 5
    assert halfspace.train(table, "k", features="x").classes.tolist() == sorted(set(np.asarray(table["k"]).tolist()))


def test_durations_of_other_units():
    """pandas 3 has another unit than pandas 2, and polars a third: the model has its own."""
    seconds = np.arange(ROWS) * 1000 // 7
    table = with_levels(seconds.astype("m8[s]"))
    for unit in "s", "ms", "us", "ns":
        model = halfspace.train(table.assign(k=seconds.astype("m8[s]").astype(f"m8[{unit}]")), "y")
        expected = model.decision_function(table.assign(k=seconds.astype("m8[s]").astype(f"m8[{unit}]")))
        for other in "s", "ms", "us", "ns":
            assert (model.decision_function(table.assign(k=seconds.astype("m8[s]").astype(f"m8[{other}]"))) == expected).all()


def test_levels_of_names():
    table = with_levels(LEVELS)
    table.columns = pandas.MultiIndex.from_tuples([("x", "mm"), ("k", "kg"), ("y", "")])
    with pytest.raises(HalfspaceError, match="the columns of data have 2 levels of names: join them") as raised:
        halfspace.train(table, "y")
    data = table
    exec(str(raised.value).split("such as ")[1], {"data": data})
    assert halfspace.train(data, "y_").features[0] == "x_mm"
    with pytest.raises(HalfspaceError, match="several columns 'x'"):
        halfspace.train(with_levels(LEVELS).set_axis(["x", "x", "y"], axis=1), "y")


def test_index():
    table = with_levels(LEVELS)
    for indexed, words in ((table.set_index("k"), "the index 'k' of data is no column"), (table.set_index(pandas.Index([str(i) for i in range(ROWS)])), "the index of data"),
                           (table.set_index([table.k, table.x.rename("z")]), "the index 'k', 'z'")):
        with pytest.warns(HalfspaceWarning, match=words):
            halfspace.train(indexed, "y")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="the index")
        halfspace.train(table[table.k > 0], "y")


@pytest.mark.parametrize("pyarrow", [True, False])
def test_missing_values(pyarrow, monkeypatch):
    """What is missing in one column stays missing, with and without pyarrow; "#", digits and blanks stay in texts."""
    without_pyarrow(monkeypatch, pyarrow)
    table = pandas.DataFrame({"c": ["p", "q", None] * 40, "y": ["yes", "no", "yes"] * 40})
    model = halfspace.train(table, "y")
    assert model.features == ["c=p", "c=q", "c (missing)"]
    assert (model.predict_proba(table[["c"]]) == model.predict_proba(table)).all()
    for record in {"c": [None]}, {"c": [np.nan]}:
        assert (model.predict_proba(pandas.DataFrame(record)) == model.predict_proba(table[2:3])).all()
    texts = ["#1", " a", "a", "01", "1", "NA", ""]
    table = pandas.DataFrame({"c": texts * 30, "y": [text + "!" for text in texts] * 30})
    model = halfspace.train(table.assign(c=table.c.astype("category")), "y", algo="logistic")
    assert model.predict(table).tolist() == table.y.tolist()


def without_pyarrow(monkeypatch, pyarrow):
    if pyarrow:
        pytest.importorskip("pyarrow")
    else:
        found = _tables.imported
        monkeypatch.setattr(_tables, "imported", lambda name, try_import=False: None if name == "pyarrow" else found(name, try_import))


def test_own_arrow_stream(monkeypatch):
    """Without pyarrow a pandas table reaches the command with the same types."""
    pytest.importorskip("pyarrow")
    table = pandas.DataFrame({
        "float": X[:, 0], "double": X[:, 1].astype(float), "int8": LEVELS.astype(np.int8), "uint64": LEVELS.astype(np.uint64), "bool": LEVELS > 1,
        "text": np.array(list("abcd"))[LEVELS], "gaps": np.where(LEVELS == 1, None, "ä"), "truth": np.where(LEVELS == 1, None, LEVELS > 2),
        "number": np.where(LEVELS == 1, None, LEVELS), "category": pandas.Categorical(LEVELS), "nullable": pandas.array(np.where(LEVELS == 1, None, LEVELS), dtype="Int16"),
        "nullable truth": pandas.array(np.where(LEVELS == 1, None, LEVELS > 2), dtype="boolean"), "string": pandas.array(np.array(list("abcd"))[LEVELS], dtype="string"),
        "day": pandas.to_datetime("2020-01-01") + pandas.to_timedelta(LEVELS, "D"), "zone": pandas.to_datetime("2020-01-01").tz_localize("UTC") + pandas.to_timedelta(LEVELS, "D"),
        "time": pandas.to_timedelta(LEVELS, "s"), "y": Y})
    table.loc[3, ["day", "time"]] = pandas.NaT
    expected = halfspace.train(table, "y", algo="logistic")
    without_pyarrow(monkeypatch, False)
    assert halfspace.train(table, "y", algo="logistic").features == expected.features
    assert halfspace.train(table, "y", algo="logistic").document["weights"] == expected.document["weights"]
    with pytest.raises(HalfspaceError, match="'lists' of data has values of the types list: install pyarrow"):
        halfspace.train(table.assign(lists=[[1.0, 2.0]] * ROWS), "y")


def test_arrow_stream_is_valid():
    pyarrow = pytest.importorskip("pyarrow")
    for columns in 0, 1, 2, 5, 33:
        for rows in 0, 1, 8, 100:
            values = [np.arange(rows).astype(dtype) for dtype in ("f8", "f4", "f2", "i1", "u8", "?", "M8[ms]", "m8[us]")] + [np.array(["é", None] * rows, object)[:rows]]
            made = [_ipc.Column(f"name {i}", values[i % len(values)]) for i in range(columns)]
            file = io.BytesIO()
            _ipc.write(file, made, rows)
            table = pyarrow.ipc.open_stream(file.getvalue()).read_all()
            table.validate(full=True)
            assert table.column_names == [column.name for column in made]
            for column in made:
                assert table[column.name].to_pylist() == pyarrow.array(column.values).to_pylist()


TYPES = {
    "string_view": lambda pa: pa.array(np.array(list("abcd"))[LEVELS]).cast(pa.string_view()), "large_string": lambda pa: pa.array(np.array(list("abcd"))[LEVELS]).cast(pa.large_string()),
    "run_end_encoded": lambda pa: pytest.importorskip("pyarrow.compute").run_end_encode(pa.array(np.array(list("abcd"))[LEVELS])),
    "list_view": lambda pa: pa.array([[float(v), 1.0] for v in LEVELS], type=pa.list_view(pa.float64())),
    "decimal32": lambda pa: pa.array(LEVELS).cast(pa.decimal128(21, 2)).cast(pa.decimal32(5, 2)), "decimal64": lambda pa: pa.array(LEVELS).cast(pa.decimal128(21, 2)).cast(pa.decimal64(10, 2)),
    "decimal128": lambda pa: pa.array(LEVELS).cast(pa.decimal128(21, 2)), "decimal256": lambda pa: pa.array(LEVELS).cast(pa.decimal256(40, 2)),
    "struct": lambda pa: pa.array([{"a": float(v), "b": {"c": int(v == 2)}} for v in LEVELS]),
    "Int128": lambda pa: pytest.importorskip("polars").Series(LEVELS).cast(pytest.importorskip("polars").Int128),
    "polars struct": lambda pa: pytest.importorskip("polars").Series([{"a": float(v), "b": {"c": int(v == 2)}} for v in LEVELS])}
PLAIN = {"string_view": ["x", "k=a", "k=b", "k=c", "k=d"], "list_view": ["x", "k[0]", "k[1]"], "struct": ["x", "k.a", "k.b.c"]}


@pytest.mark.parametrize("kind", TYPES)
def test_types(kind):
    pyarrow = pytest.importorskip("pyarrow")
    try:
        column = TYPES[kind](pyarrow)
    except AttributeError as error:
        pytest.skip(str(error))
    table = pytest.importorskip("polars").DataFrame({"x": X[:, 0], "k": column, "y": Y}) if kind in ("Int128", "polars struct") else pyarrow.table({"x": X[:, 0], "k": column, "y": Y})
    model = halfspace.train(table, "y", algo="logistic")
    same = {"large_string": "string_view", "run_end_encoded": "string_view", "polars struct": "struct"}.get(kind, kind)
    assert model.features == PLAIN.get(same, ["x", "k"])
    assert (model.predict(table) == Y).mean() > 0.7


def test_masked_arrays():
    """What a mask hides is missing for train, and labels have no mask."""
    masked = np.ma.masked_array(X, X > 1.5)
    assert halfspace.train(masked, Y) == halfspace.train(np.where(X > 1.5, np.nan, X), Y)
    assert halfspace.train(np.ma.masked_array(X, X > 99), Y) == halfspace.train(X, Y)
    with pytest.raises(HalfspaceError, match="label is masked in row 2"):
        halfspace.train(X, np.ma.masked_array(LEVELS, np.arange(ROWS) == 2))


def test_notes_have_names_of_columns():
    with pytest.warns(HalfspaceWarning, match='feature "b" alone tells the classes') as notes:
        halfspace.LogisticRegression().fit(numbers(), X[:, 1] > 0)
    assert len(notes) == 1


def test_types_in_one_text():
    """A text of several types means what the same types in a dict mean, also beside a column of categories."""
    rng = np.random.default_rng(5)
    table = pandas.DataFrame({"a": rng.integers(0, 3, 60).astype(str), "b": rng.integers(0, 9, 60), "c": pandas.Categorical(rng.choice(list("xyz"), 60)),
                              "y": rng.integers(0, 2, 60)})
    models = [halfspace.train(table, "y", type=types).document for types in ("a=category,b=number", {"a": "category", "b": "number"})]
    assert models[0]["features"] == models[1]["features"] and models[0]["weights"] == models[1]["weights"]
    assert any(str(feature).startswith("a=") for feature in models[0]["features"])
