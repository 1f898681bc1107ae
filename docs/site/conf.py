"""Configuration of Sphinx. ``make docs`` writes the sources with ``stage.py`` and builds the site offline."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # the folder itself, for modules that examples and this file import

from sphinx_gallery.sorting import ExplicitOrder

import madaline as md
from contents import TOPICS, slug

project = "madaline"
author = "madaline developers"
copyright = "madaline developers"  # noqa: A001 - the name that Sphinx reads
release = md.__version__
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["examples/**", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5"]
suppress_warnings = ["config.cache"]  # the configuration of sphinx-gallery holds functions

# Pages.
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
highlight_language = "none"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Docstrings: parameters are described in them, with their types.
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = True
maximum_signature_line_length = 100
python_use_unqualified_type_names = True

# Formulas, from a copy of MathJax that npm has installed.
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {
    "tex": {"macros": {"R": r"\mathbb{R}"}},
    "svg": {"fontCache": "local"},
    "options": {"enableMenu": False},
}

# Examples run with few seeds and epochs, unless MADALINE_QUICK is empty: `make docs FULL=1`.
sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "copyfile_regex": "",
    "download_all_examples": False,
    "image_scrapers": ("example_style.animations", "matplotlib"),
    "image_srcset": ["2x"],
    "min_reported_time": 1,
    "nested_sections": False,
    "parallel": int(os.environ.get("MADALINE_DOCS_JOBS", "2")),
    "remove_config_comments": True,
    "reset_modules": ("matplotlib", "example_style.reset"),
    "show_memory": False,
    "thumbnail_size": (480, 320),
    "subsection_order": ExplicitOrder([*(f"examples/{slug(name)}" for name in TOPICS), "*"]),
    "within_subsection_order": "ExampleTitleSortKey",
    "write_computation_times": False,  # that page loads scripts from other sites
}

# Looks.
WIDE = ["index", "concepts", *(f"coming-from/{name}" for name in ("scikit-learn", "pytorch", "keras"))]
html_context = {"default_mode": "auto"}
html_theme = "pydata_sphinx_theme"
html_title = "madaline"
html_short_title = "madaline"
html_static_path = [str(HERE / "static"), os.environ.get("MADALINE_MATHJAX", "")]
html_extra_path = [str(HERE.parents[1] / "build" / "playground")]  # of `make playground`
html_css_files = ["madaline.css"]
html_favicon = str(HERE / "static" / "logo.svg")
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"coming-from/*": [], "index": [], "tutorial": [], "concepts": [], "changelog": [], "source/**": []}
html_theme_options = {
    "logo": {"text": "madaline", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "show_prev_next": False,
    "secondary_sidebar_items": {"**": ["page-toc"], **{name: [] for name in WIDE}},
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": True,
}
