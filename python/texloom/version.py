"""The version of Texloom."""

VERSION = "0.1.0"
