"""Names of the first stages, in their own module so that code naming one does not depend on every learner."""

from __future__ import annotations

#: The first stage that retrieved the candidates, or the feature that ranks like it; every method starts from it.
REFERENCE = "reference"
#: What an encoder retrieves, where the configuration names one.
DENSE = "dense"
#: Methods that retrieve their own documents from a whole text collection, as many as there are candidates.
RETRIEVERS = {"bm25-tuned": "BM25, tuned", "rm3": "RM3 on tuned BM25", DENSE: "dense encoder"}
#: All first stages that tables of methods include, with their labels.
FIRST_STAGES = {REFERENCE: "first stage (reference)", **RETRIEVERS}
