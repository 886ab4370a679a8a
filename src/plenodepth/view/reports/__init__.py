"""Reports as HTML pages and Markdown."""
