"""A simulated web: sites, pages, links and anchors; queries for homepages, named pages and topics.

Nothing is drawn as a feature. Sites have names, topics and popularity; pages hang in trees of URLs and are written
word by word; popular sites are linked to more often, and a link calls its target by name. A query asks for a homepage,
for a named page or for a topic, in words of the site, the page or the topic; a page's grade follows from what such a
user is after. That queries of different kinds want different rankings, and that this shows in the pages they
retrieve, follows without further rules. `world.simulate_web` makes a `Collection`, like any that is read from
files.
"""
