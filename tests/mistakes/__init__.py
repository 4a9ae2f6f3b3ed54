"""Mistakes that people make, each planted on purpose, with what the message must say.

``python -m tests.mistakes`` prints them with their messages.
"""

from tests.mistakes.commands import COMMANDS
from tests.mistakes.configurations import CONFIGURATIONS
from tests.mistakes.feature_files import FEATURE_FILES
from tests.mistakes.library import LIBRARY
from tests.mistakes.run_files import RUN_FILES
from tests.mistakes.texts import TEXTS

MISTAKES = [*CONFIGURATIONS, *FEATURE_FILES, *TEXTS, *RUN_FILES, *COMMANDS, *LIBRARY]
