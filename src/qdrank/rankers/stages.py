"""Names of the first stages, in a separate module so that code naming a first stage does not depend on every learner."""

from __future__ import annotations

#: What brought the candidates, or the feature that ranks like it: every method starts from its ranking.
REFERENCE = "reference"
#: Methods of a text set that bring their own documents from the whole collection, as many as there are candidates.
RETRIEVERS = {"bm25-tuned": "BM25, tuned", "rm3": "RM3 on tuned BM25"}
#: All that a table of methods stands beside, and what tables call it.
FIRST_STAGES = {REFERENCE: "first stage (reference)", **RETRIEVERS}
