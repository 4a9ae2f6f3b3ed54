"""The console commands: one module per command, with ``add_arguments(parser)`` and ``run(args)``."""
