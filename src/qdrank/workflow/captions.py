"""What the report says of each table and figure; those of a study stand in its declaration."""

from __future__ import annotations

from qdrank.workflow.run import ALL_STUDIES

#: What belongs to no study. The title of the data set comes first.
_SHARED = {
    "data-notes": "What was read. Of feature files: where the names of the documents come from. Of runs: how many "
    "judged queries have documents, how many documents are not judged, how many relevant documents no run retrieves, "
    "and of every run its form, its depth and the documents that it lacks.",
    "data-summary": "Queries, documents, grades and preference pairs, by part. A query without a relevant document "
    "counts as 0 in every mean; it has no pairs, so nothing is learned from it. For raw text, the last columns count "
    "the judged relevant documents, and those of them that BM25 did not bring among the candidates: no method can "
    'rank these, and measures count them as missed, as trec_eval does. The row "published" has the publisher\'s '
    "numbers; of a text collection only those of queries, because documents here are candidates.",
    "difficulty": "Every method by the difficulty of the queries, that is, their number of relevant documents "
    "(``difficulty.classes``); queries without any are a class of their own. Means, differences from one reference "
    "method with bootstrap intervals, and paired t tests, with p also corrected by Holm's method over all classes and "
    "methods of a measure. Methods with clusters (Lin 2011) are shown with their first run of K-means. A class of "
    "fewer than ten queries has no intervals and no tests.",
    "difficulty-figure": "Differences of every method from one reference method by the difficulty of the queries, "
    "with bootstrap intervals. Filled: p < 0.05 after Holm's correction over all classes and methods. A class with "
    "too few queries, or too few that differ, has no intervals and no tests; nor is there a test where the bootstrap "
    "does not confirm Student's interval. The table says which.",
    "learners": "The classic learners (on rankings: aggregators), each tuned on the validation queries of a fold and "
    "measured on its test queries. A value is the mean of the folds' means, as LETOR publishes it; the name of a "
    "measure states its convention. The last column has the settings that validation chose in each fold. Aggregators "
    'marked "upside down" take the larger rank number for the better one: not what ranks mean, but only so are the '
    "figures published for LETOR's rank aggregation reproduced. For raw text every judged relevant document counts, "
    "also those that are not among the candidates (``text.relevant``).",
    "learners-tests": "Paired two-sided tests of every method against RankSVM (on rankings: the first aggregator), "
    "over all test queries. P-values of the t tests of a measure are corrected together by Holm's method. The "
    "smallest detectable difference would be found with probability 0.8 at the corrected level. For raw text every "
    "judged relevant document counts, also those that are not among the candidates (``text.relevant``).",
    "methods": "All methods that were run, with the first stage among them, by decreasing MAP over all test queries. "
    "Each mean has its BCa bootstrap interval over queries; where there are too few queries there is none. The best "
    "of many methods looks better than it is: its lead over each other method is decided like a claim, at a level "
    "divided by their number. The name of NDCG ends in its convention.",
    "published": "Published figures beside ours: means of five folds first, then single folds where they are known. A "
    'figure "agrees" if it is within the band and no other published method of the source is nearer. The band is the '
    'spread between independent runs of one method; where none is known there is no band. "Others in the band" counts '
    "the other methods whose published figure would have been accepted too. The last rows say how often the right "
    'method is the nearest, against chance: the fewer methods to choose from, the less agreement means. A "recalled" '
    "source could not be opened: take its figures as a rough guide. The table is empty where the data are not the "
    "complete set that the figures are of. The published figures of BordaCount are reproduced to the fourth digit if "
    "rankings are read upside down (the larger rank number first), and not otherwise; rows of the plain reading show "
    "that.",
    "single-features": "Each feature as a ranker: documents are sorted by it alone, highest first, ties in file "
    "order. A value in the table is the mean of the folds' means on test queries, as the LETOR baselines are "
    "published; the name of a measure states its convention (docs/measures.md). For raw text every judged relevant "
    "document counts, also those that are not among the candidates (``text.relevant``). Intervals in the picture are "
    "over the test queries of all folds; a grey, open dot has none: the queries are too few, or too few differ.",
    "single-features-folds": "Each feature as a ranker, by fold: documents are sorted by it alone, highest first, "
    "ties in file order. The name of a measure states its convention (docs/measures.md).",
    "text-notes": "How text became features: the analyser, the candidates (the best documents by BM25; unjudged ones "
    "get grade 0), the constants of the rank models, and what was noticed: queries left out, empty documents, "
    "judgments of unknown documents. The first rows give the mean average precision of the reference feature over the "
    "queries of all parts: over all relevant documents and, higher, over those among the candidates.",
}
#: Every caption, by the id of its table or figure.
CAPTIONS = _SHARED | {
    id_: text
    for study in ALL_STUDIES
    for output in (*study.figures, *study.tables, study.observations)
    if output
    for id_, text in output.captions.items()
}
