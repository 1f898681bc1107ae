"""``heal``: try remedies on copies and keep those that help."""
