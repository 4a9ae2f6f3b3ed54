# The workflow, with its table of contents, is in workflow/Snakefile.
include: "workflow/Snakefile"


# An included file has no say in what is made by default; as a module of another workflow, `all` has another name.
workflow.default_target = workflow.modifier.modify_rulename("all")
