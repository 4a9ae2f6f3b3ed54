"""Retrieval with past queries on a collection where it is known what helps: jobs, tables, observations and verdicts."""

import json

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from qdrank.datasets.collections.forms import read_collection
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.values import observe
from qdrank.figures.numbers import where
from qdrank.store import read, write
from qdrank.store.tables import list_column
from qdrank.studies.beyond import STUDY
from qdrank.studies.beyond.choosing import Chooser, Grid
from qdrank.studies.beyond.claims import declare
from qdrank.studies.beyond.figures import draw_retrieval
from qdrank.studies.beyond.learned import Listed, seen
from qdrank.studies.beyond.methods import (
    ENCODER,
    FORMS,
    LEARNED,
    MIX_CONTROLS,
    RECOMMENDED,
    RETRIEVAL_MEASURES,
    RETRIEVERS,
    TEXT_MIX,
    WITH_ENCODER,
    WITHOUT_ENCODER,
    without_near,
)
from qdrank.studies.beyond.retrieval import fold_queries, hiding_lists, in_form, near_duplicates, write_retrieval
from qdrank.studies.beyond.settings import Beyond
from qdrank.studies.beyond.tables import label, retrieval_values, retrieved, tabulate_retrieval
from qdrank.studies.making import Inputs, Shown
from qdrank.text.encoding import load_vectors
from qdrank.text.expansion import AskedQueries
from qdrank.text.extract import text_settings
from qdrank.text.retrieve import RankedDocuments
from qdrank.workflow.config import Settings

TOPICS, FOLDS = 8, ("fold1", "fold2", "fold3", "fold4", "fold5")
SECTION = Beyond(
    copies=[1],
    dimensions=5,
    weights=[0, 1],
    near=[0.9],
    leaves=[4],
    min_leaf=[5],
    lambdas=[0.1],
    ks=[0.3],
    local_lambdas=[0.1],
    proximities=[0.5],
    mixes=[0.5],
    interactions=[10],
)
TEXT = Settings.model_validate({"datasets": ["sim1"]}).text.model_dump() | {
    "tried_k1": [0.9],
    "tried_b": [0.4],
    "feedback": {"documents": [5], "terms": [10], "weight": [0.5]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Queries say a topic in words that its documents do not have; they share a word by chance only."""
    rng, place = np.random.default_rng(4), tmp_path_factory.mktemp("made")
    (place / "qrels").mkdir()
    documents, queries, lines = [], [], []
    for d in range(TOPICS * 10):
        words = [f"said{d // 10}x{i}" for i in rng.integers(0, 4, 2)] + [f"noise{i}" for i in rng.integers(0, 30, 6)]
        documents.append({"_id": f"d{d:02}", "title": "", "text": " ".join(words)})
    for q in range(120):
        topic = q % TOPICS
        words = [f"asked{topic}x{i}" for i in rng.integers(0, 3, 3)] + [f"noise{i}" for i in rng.integers(0, 30, 1)]
        queries.append({"_id": f"q{q:03}", "text": " ".join(words)})
        chosen = rng.permutation(10)[:4] + 10 * topic
        lines += [f"q{q:03}\td{d:02}\t{1 + (i == 0)}" for i, d in enumerate(chosen)]
    (place / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (place / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (place / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(lines) + "\n")
    return place


def retrieve(folder, out, fold, form, files=None):
    """Run the job of a fold and a form; paths of what it made."""
    paths = {"values": str(out / f"{fold}-{form}.parquet"), "choices": str(out / f"{fold}-{form}.c.parquet")}
    write_retrieval(
        files or {},
        paths,
        fold,
        form,
        source={"like": "beir", "folder": str(folder)},
        text=TEXT,
        retrieval=SECTION.retrieval(),
        beyond=SECTION.solved() | {"rounds": 10, "tol": 1e-4, "seed": 1},
        refits=2,
        measure="ap",
        measures=list(RETRIEVAL_MEASURES),
    )
    return paths


@pytest.fixture(scope="module")
def inputs(folder, tmp_path_factory):
    out, made = tmp_path_factory.mktemp("out"), {}
    for form in FORMS:
        for fold in FOLDS if form == "all" else FOLDS[:1]:
            paths = retrieve(folder, out, fold, form)
            made.setdefault(form, []).append(paths["values"])
            made.setdefault("tried", []).append(paths["choices"])
    return Inputs(made)


SHOWN = Shown("toy", "Toy", FOLDS, {"level": 0.95, "resamples": 100, "seed": 1}, {})


def test_past_queries_are_found_to_help_and_their_owners_to_matter(inputs):
    values = retrieved(inputs)
    means = where(values, near=0.0).groupby("method")["ap@1000"].mean()
    assert means[RECOMMENDED] > means[TEXT_MIX] + 0.2
    assert means["permuted"] < means[TEXT_MIX] + 0.1
    assert means["another"] < means["nearest-mix"] - 0.1
    fits = values.groupby("method")["fit"].nunique()
    assert (fits["permuted"], fits["learned-all"], fits["learned-linear"], fits[RECOMMENDED]) == (2, 2, 1, 1)
    assert values["query_id"].nunique() == 120, "every query is a test query once"


def test_claims_are_judged_from_the_values(inputs):
    declaration = declare(SECTION.model_dump())
    found = observe(declaration, retrieval_values(inputs), {})
    verdicts = {row["claim"]: row["verdict"] for row in decide(declaration, {"toy": found}, dataset="toy").to_pylist()}
    for name in ("expansion", "expansion, NDCG@10", "expansion - permuted", "similar queries - another query"):
        assert verdicts[name] == "holds", name
    assert retrieval_values(Inputs({form: [] for form in FORMS})).empty, "no raw text, no observations"


def test_tables_have_every_method_control_and_form(inputs):
    made = tabulate_retrieval(inputs, SHOWN)
    assert list(made) == list(STUDY.tables[1].shows)
    shown = [words for name, words in (RETRIEVERS | LEARNED).items() if name not in (ENCODER, *WITHOUT_ENCODER)]
    assert made["beyond-retrieval"]["method"].tolist() == shown
    assert set(RETRIEVAL_MEASURES) <= set(made["beyond-budgets"])
    against = made["beyond-past"]["against"]
    assert {MIX_CONTROLS["permuted"][0], MIX_CONTROLS["another"][0]} <= set(against)
    forms = made["beyond-forms"]["judgments"].tolist()
    assert set(forms) == {FORMS[form] for form in ("all", "grade-2", "highest")}, "no document is a hub here"
    of_near = where(made["beyond-forms"], method=label(without_near(RECOMMENDED, 0.9)))["judgments"]
    assert of_near.tolist() == list(dict.fromkeys(forms)), "near-duplicates are hidden in every form"
    text = next(row for row in made["beyond-retrieval"].to_dict("records") if row["method"] == RETRIEVERS[TEXT_MIX])
    assert text["difference in MAP"] == 0


def test_the_figure_shows_the_differences_of_the_tables(inputs):
    figure, numbers = draw_retrieval(inputs, SHOWN)
    rows = {(row["method"], row["near"]): row for row in numbers.to_dict("records")}
    table = {row["method"]: row for row in tabulate_retrieval(inputs, SHOWN)["beyond-retrieval"].to_dict("records")}
    gain = rows[RECOMMENDED, 0.0]["difference"]
    assert gain == pytest.approx(table[RETRIEVERS[RECOMMENDED]]["difference in MAP"])
    assert gain > 0
    assert rows["permuted", 0.0]["high"] < rows[RECOMMENDED, 0.0]["low"], "the control knows nothing here"
    assert (RECOMMENDED, 0.9) in rows
    left, _ = figure.axes
    assert len(left.get_yticks()) == len(where(numbers, near=0.0))


@pytest.fixture(scope="module")
def vectors(folder, tmp_path_factory):
    """Vectors by an encoder that knows the topics, and takes two queries of one topic and words for the same."""
    collection, path = read_collection("beir", folder), tmp_path_factory.mktemp("vectors") / "vectors.parquet"
    rng, topics = np.random.default_rng(2), np.eye(TOPICS)
    kinds = {"query": [one.query_id for one in collection.queries], "document": collection.documents.doc_id}
    of_topic = {"query": np.arange(120) % TOPICS, "document": np.arange(TOPICS * 10) // 10}
    found = np.concatenate(
        [topics[of_topic[kind]] + rng.normal(0, 0.2, (len(ids), TOPICS)) for kind, ids in kinds.items()]
    )
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    named = [(kind, name) for kind, ids in kinds.items() for name in ids]
    columns = [pa.array(column, pa.string()) for column in zip(*named, strict=True)]
    write(path, "vectors", pa.table([*columns, list_column(found.astype(np.float32))], names=["kind", "id", "vector"]))
    return path


def test_an_encoder_is_a_part_of_text_in_every_mix(folder, vectors, tmp_path):
    made = retrieve(folder, tmp_path, "fold1", "all", {"vectors": str(vectors)})
    values = retrieved(Inputs({"all": [made["values"]]}))
    means = where(values, near=0.0).groupby("method")["ap@1000"].mean()
    assert means[ENCODER] > means["text-bm25"] + 0.2
    assert means[TEXT_MIX] > means["words-mix"] + 0.2
    assert means["words-past-mix"] > means["words-mix"] + 0.2
    table = tabulate_retrieval(Inputs({form: [made["values"]] for form in FORMS} | {"tried": [made["choices"]]}), SHOWN)
    named = table["beyond-retrieval"]["method"].tolist()
    assert {*WITH_ENCODER.values(), RETRIEVERS["words-mix"], RETRIEVERS[ENCODER]} < {*named}


def test_near_duplicates_are_told_by_the_encoder_too(folder, vectors):
    collection, settings = read_collection("beir", folder), text_settings(TEXT, 1)
    plain, encoded = (fold_queries(collection, settings, "fold2", "all", one) for one in (None, load_vectors(vectors)))
    before = near_duplicates(plain.known, plain.asked, 0.9).hidden.toarray()
    after = near_duplicates(encoded.known, encoded.asked, 0.9).hidden.toarray()
    alike = encoded.asked.vectors @ encoded.known.past.vectors.T >= 0.9
    np.testing.assert_array_equal(after, before | alike)
    assert after.sum() > before.sum()


def test_the_test_queries_choose_nothing(folder, inputs):
    """The choices of a fold are the same when the test queries' judgments are other ones."""
    collection, settings = read_collection("beir", folder), text_settings(TEXT, 1)
    queries = fold_queries(collection, settings, "fold1", "all")
    rows = collection.qrels.query
    turned = np.where(np.isin(rows, queries.test), (collection.qrels.document + 37) % 80, collection.qrels.document)
    order = np.lexsort((turned, rows))
    qrels = type(collection.qrels)(rows[order], turned[order], collection.qrels.grade[order])
    other = fold_queries(type(collection)(collection.documents, collection.queries, qrels), settings, "fold1", "all")
    assert (queries.past == other.past).all()
    assert (queries.known.past.judgments != other.known.past.judgments).nnz == 0
    tried = read(inputs.files["tried"][0], "choices").to_pylist()
    grid = Grid.of(
        settings.bm25, {"k1": [0.9], "b": [0.4]}, TEXT["feedback"], copies=(1,), dimensions=5, weights=(0, 1)
    )
    value = next(row["value"] for row in tried if row["method"] == "text-bm25")
    chooser = Chooser(other.known, grid)
    from qdrank.studies.beyond.choosing import text_parts

    text_parts(chooser)
    assert chooser.tried["text-bm25"][1].value == value


def test_near_duplicates_are_hidden(folder):
    queries = fold_queries(read_collection("beir", folder), text_settings(TEXT, 1), "fold2", "all")
    known, asked = queries.known, queries.asked
    most = near_duplicates(known, asked, 0.0).hidden.toarray()
    assert most.all(), "at similarity 0 all are near"
    few, none = near_duplicates(known, asked, 0.7).hidden, near_duplicates(known, asked, 1.1).hidden
    assert 0 < few.nnz < most.sum()
    assert none.nnz == 0
    again = known.past_asked
    assert (np.diag(near_duplicates(known, again, 0.99).hidden.toarray()) == 1).all()


def test_a_query_without_candidates_is_not_learned_from():
    document = np.array([[3, 1], [-1, -1], [2, -1]])
    ranking = RankedDocuments(document, np.zeros((3, 2)), np.array([2, 0, 1]), np.array([2, 0, 1]))
    grades = sparse.csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2]]))
    documents, _ = seen(Listed(ranking, np.arange(12.0).reshape(3, 2, 2)), grades, [1])
    np.testing.assert_array_equal(documents.offsets, [0, 2, 3])
    np.testing.assert_array_equal(documents.y, [0, 1, 0])
    np.testing.assert_array_equal(documents.X[:, 0], [1, 3, 9])
    assert documents.missed.tolist() == [(), (2,)]


def test_a_permuted_list_stays_hidden_from_the_query_it_belongs_to():
    asked = AskedQueries(sparse.csr_array(np.eye(4, dtype=int)), sparse.csr_array(np.eye(4, dtype=int)))
    owners = np.array([2, 0, 3, 1])
    hidden = hiding_lists(asked, owners).hidden.toarray()
    for query in range(4):
        assert set(np.flatnonzero(hidden[query])) == {query, owners.tolist().index(query)}


def test_forms_of_the_judgments():
    judgments = sparse.csr_array(np.array([[3, 1, 0], [2, 0, 0], [1, 0, 2]]))
    assert in_form(judgments, "all").toarray().tolist() == judgments.toarray().tolist()
    assert in_form(judgments, "grade-2").toarray().tolist() == [[3, 0, 0], [2, 0, 0], [0, 0, 2]]
    assert in_form(judgments, "highest").toarray().tolist() == [[3, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert in_form(judgments, "no-hubs") is None, "all three documents answer more than a tenth of the queries"
    assert in_form(sparse.csr_array(np.eye(3, dtype=int)), "highest") is None, "it changes nothing"
    wide = sparse.csr_array(np.hstack([np.ones((20, 1), dtype=int), np.eye(20, dtype=int)]))
    assert in_form(wide, "no-hubs").toarray()[:, 0].sum() == 0
