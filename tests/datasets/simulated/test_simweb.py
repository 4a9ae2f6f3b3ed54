"""The simulated web: its shape, stable draws, and grades that follow from the kind of the query."""

import numpy as np
import pytest

from qdrank.datasets.simulated.settings import QUERY_KINDS, AffineCopies, WebSimulation
from qdrank.datasets.simulated.web import (
    RULES,
    Links,
    _draw,
    candidate_pages,
    make_grades,
    match_matrix,
    simulate_web,
    utilities,
)
from qdrank.datasets.simulated.web_pages import CUES, made_words, tokens
from qdrank.errors import InputError

#: Pages, links, judgments, sum of grades and first query of the small draw with seed 3.
PINNED = (990, 8069, 3600, 2680, "serorir mikufix")
SMALL = WebSimulation(train=120, vali=30, test=30, sites=40, topics=5, candidates=20)


@pytest.fixture(scope="module")
def web():
    return simulate_web(3, SMALL)


@pytest.fixture(scope="module")
def control():
    return simulate_web(3, SMALL, one_rule=True)


def of_kind(web, kind):
    """Rows of the judgments that belong to queries of a kind."""
    kinds = np.array([query.type for query in web.collection.queries])
    return kinds[web.collection.qrels.query] == kind


def within(values, query):
    """Differences to the mean of the query."""
    return values - (np.bincount(query, weights=values) / np.bincount(query))[query]


def correlation(web, values, kind):
    """Correlation of a page's property with its grade, within the queries of a kind."""
    qrels, own = web.collection.qrels, of_kind(web, kind)
    values = np.asarray(values, dtype=float)[qrels.document]
    return np.corrcoef(within(values, qrels.query)[own], within(qrels.grade, qrels.query)[own])[0, 1]


def inlinks(web):
    return np.log1p(np.bincount(web.collection.documents.links[:, 1], minlength=len(web.collection.documents)))


def slashes(web):
    return [url.count("/") for url in web.collection.documents.fields["url"]]


def test_parts_and_kinds_have_the_promised_sizes(web):
    asked = web.collection.queries
    assert [sum(query.split == part for query in asked) for part in ("train", "vali", "test")] == [120, 30, 30]
    assert [sum(query.type == kind for query in asked) for kind in QUERY_KINDS] == [60, 60, 60]
    assert [query.query_id for query in asked] == sorted(query.query_id for query in asked)


def test_every_candidate_is_judged_once_and_no_list_is_too_long(web):
    qrels = web.collection.qrels
    pairs = np.column_stack([qrels.query, qrels.document])
    assert np.array_equal(pairs, np.unique(pairs, axis=0))
    assert np.bincount(qrels.query).max() == SMALL.candidates
    assert set(qrels.grade) <= set(range(5))


def test_grades_are_as_rare_as_in_the_other_simulated_sets():
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(500), 40)
    grade = make_grades(WebSimulation(train=500, vali=0, test=0), rng.standard_normal(len(query)), query, rng)
    assert np.bincount(grade) / len(grade) == pytest.approx([0.58, 0.22, 0.11, 0.06, 0.03], abs=0.02)


def test_documents_are_whole_pages(web):
    documents = web.collection.documents
    assert documents.doc_id == sorted(documents.doc_id)
    assert set(documents.fields) == {"title", "body", "anchor", "url"}
    assert all(documents.fields["title"])
    assert all(documents.fields["body"])
    assert len(set(documents.fields["url"])) == len(documents)
    assert np.array_equal(documents.links, np.unique(documents.links, axis=0))
    assert (documents.links[:, 0] != documents.links[:, 1]).all()


def test_addresses_form_trees(web):
    urls = set(web.collection.documents.fields["url"])
    homes = [url for url in urls if url.endswith(".org/")]
    assert len(homes) == SMALL.sites
    for url in urls.difference(homes):
        assert url.rstrip("/").rpartition("/")[0] + "/" in urls
        assert 4 <= url.count("/") + url.endswith(".html") <= 6  # one to three steps down


def test_homepages_are_linked_to_by_name(web):
    fields = web.collection.documents.fields
    for url, anchor in zip(fields["url"], fields["anchor"], strict=True):
        if url.endswith(".org/"):
            brand = url.removeprefix("http://www.").partition("-")[0]
            words = anchor.split()
            assert words.count(brand) > len(words) / 4


def test_the_order_of_pages_does_not_tell_homepages(web):
    place = np.flatnonzero([url.endswith(".org/") for url in web.collection.documents.fields["url"]]) / len(
        web.collection.documents
    )
    assert 0.35 < place.mean() < 0.65


def test_the_same_seed_is_the_same_web_and_another_is_not(web):
    again, other = simulate_web(3, SMALL), simulate_web(4, SMALL)
    assert again.collection.documents.fields == web.collection.documents.fields
    assert again.collection.queries == web.collection.queries
    assert np.array_equal(again.collection.qrels.grade, web.collection.qrels.grade)
    assert other.collection.documents.fields["title"] != web.collection.documents.fields["title"]


def test_draws_are_stable(web):
    """Pinned: a change here changes every result that was ever computed on a simulated web."""
    collection = web.collection
    found = (len(collection.documents), len(collection.documents.links), len(collection.qrels))
    assert (*found, int(collection.qrels.grade.sum()), collection.queries[0].text) == PINNED


def test_a_homepage_query_wants_the_entry_and_links_a_named_page_does_not(web):
    assert correlation(web, slashes(web), "homepage") < -0.15
    assert correlation(web, inlinks(web), "homepage") > 0.15
    assert correlation(web, slashes(web), "named_page") > 0.05
    assert correlation(web, inlinks(web), "topic") > 0.05


def test_the_control_differs_in_grades_alone(web, control):
    one, two = web.collection, control.collection
    assert one.documents.fields == two.documents.fields
    assert one.queries == two.queries
    assert np.array_equal(one.qrels.document, two.qrels.document)
    assert not np.array_equal(one.qrels.grade, two.qrels.grade)


def test_with_one_rule_the_same_property_counts_the_same_for_every_kind():
    rng = np.random.default_rng(1)
    query, kind = np.repeat(np.arange(300), 20), np.arange(300) % 3
    properties = {name: rng.standard_normal(len(query)) for rule in RULES.values() for name in rule}
    for one_rule in (True, False):
        worth = utilities(properties, kind, query, one_rule=one_rule)
        design = np.column_stack([within(values, query) for values in properties.values()])
        weights = [
            np.linalg.lstsq(design[own], worth[own], rcond=None)[0] for own in kind[query] == np.arange(3)[:, None]
        ]
        assert (np.ptp(weights, axis=0).max() < 0.15) == one_rule


def test_without_noise_and_richness_the_worth_decides(web):
    quiet = simulate_web(3, SMALL, noise=0.0)
    order = np.lexsort((quiet.worth, quiet.collection.qrels.query))
    same = np.diff(quiet.collection.qrels.query[order]) == 0
    assert (np.diff(quiet.collection.qrels.grade[order])[same] >= 0).all()


def test_ambiguity_is_the_share_of_queries_without_a_cue():
    assert simulate_web(1, SMALL, ambiguity=1.0).cues.sum() == 0
    clear = simulate_web(1, SMALL, ambiguity=0.0)
    kinds = np.array([QUERY_KINDS.index(query.type) for query in clear.collection.queries])
    assert np.array_equal(clear.cues, np.eye(3, dtype=int)[kinds])
    words = [set(query.text.split()) for query in clear.collection.queries]
    assert all(own & set(CUES[QUERY_KINDS[kind]]) for own, kind in zip(words, kinds, strict=True))


def test_made_words_are_distinct_and_read_as_one_word():
    words = made_words(5000, np.random.default_rng(0))
    assert len(set(words)) == 5000
    assert all(word.isalpha() and word.isascii() and word.islower() for word in words)


def test_candidates_are_the_best_by_rare_words_in_page_order():
    from scipy.sparse import csr_array

    field = tokens(np.array([3, 0, 1, 2, 2, 3]), np.array([0, 0, 0, 0, 1, 1]))
    whole = match_matrix(field, (5, 3))
    assert whole.toarray().tolist() == [[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 0]]
    asked = csr_array(np.array([[1.0, 1, 0], [0, 0, 1], [1, 0, 0]]))
    query, page = candidate_pages(asked, whole, 3)
    assert query.tolist() == [0, 0, 0, 2, 2, 2]
    assert page.tolist() == [0, 2, 3, 0, 1, 2]


def test_a_query_that_no_page_answers_is_noted():
    web = simulate_web(2, train=60, vali=0, test=0, sites=6, topics=2, pages=8, body=10)
    judged = set(web.collection.qrels.query.tolist())
    missing = sum(note.count for note in web.collection.notes)
    assert len(judged) + missing == 60


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"locality": 0}, "unknown setting 'locality'"),
        ({"noize": 1}, "noise"),
        ({"train": 0}, "train: .* equal to 1"),
        ({"ambiguity": 1.5}, "ambiguity"),
        ({"noise": float("nan")}, "noise"),
        ({"sites": 0}, "sites"),
    ],
)
def test_bad_settings_are_told_in_words(changes, told):
    with pytest.raises(InputError, match=told):
        simulate_web(0, **changes)


def test_sites_are_drawn_by_their_weight_within_the_kind():
    rng = np.random.default_rng(0)
    weight, kind_of = np.array([1.0, 3.0, 5.0, 2.0, 2.0]), np.array([0, 1, 0, 1, 1])
    kind = np.repeat([0, 1], 20_000)
    drawn = _draw(weight, kind, kind_of, rng)
    assert (kind_of[drawn] == kind).all()
    for one in (0, 1):
        share = np.bincount(drawn[kind == one], minlength=5) / 20_000
        expected = np.where(kind_of == one, weight, 0.0)
        np.testing.assert_allclose(share, expected / expected.sum(), atol=0.02)


@pytest.mark.parametrize("at", [0.0, np.nextafter(1.0, 0.0)])
def test_the_ends_of_the_draw_stay_within_the_kind(at):
    class Edge:
        def random(self, n: int) -> np.ndarray:
            return np.full(n, at)

    weight, kind_of = np.array([0.1, 0.2, 0.3]), np.array([1, 0, 1])
    assert kind_of[_draw(weight, np.array([0, 1]), kind_of, Edge())].tolist() == [0, 1]


def test_a_link_that_stands_twice_counts_once():
    links = Links(np.array([2, 0, 2, 2]), np.array([1, 3, 1, 0]))
    assert links.distinct.tolist() == [[0, 3], [2, 0], [2, 1]]


def test_what_fits_is_changed_and_all_else_stays():
    changed = AffineCopies().changed({"features": 7, "noise": 1, "documents": [2, 3]})
    assert (changed.features, changed.noise, changed.documents, changed.shift) == (7, 1, (2, 3), 2.0)
    assert AffineCopies().changed({}) == AffineCopies()


@pytest.mark.parametrize(
    ("changes", "problem", "fix"),
    [
        ({"sights": 7}, "unknown setting 'sights'", "sites"),
        ({"sites": 7.5}, "sites: Input should be a valid integer", "for instance sites: 300"),
        ({"sites": True}, "sites: Input should be a valid integer", "for instance sites: 300"),
        ({"noise": "1"}, "noise: Input should be a valid number", "for instance noise: 1.1"),
        ({"one_rule": 1}, "one_rule: Input should be a valid boolean", "for instance one_rule: false"),
        ({"seed": -1}, "seed: Input should be greater than or equal to 0", "for instance seed: 0"),
        ({"seed": 1.0}, "seed: Input should be a valid integer", "for instance seed: 0"),
        ({"seed": None}, "seed: Input should be a valid integer", "for instance seed: 0"),
    ],
)
def test_what_does_not_fit_is_named_with_an_example(changes, problem, fix):
    with pytest.raises(InputError, match=rf"{problem}[\s\S]*{fix}"):
        WebSimulation().changed(changes)


@pytest.mark.parametrize("documents", [[1], [1, 2.0], 9, [0, 2]])
def test_a_range_is_two_whole_numbers_that_rise(documents):
    with pytest.raises(InputError, match=r"documents: [\s\S]*for instance documents: \[15, 30\]"):
        AffineCopies().changed({"documents": documents})
