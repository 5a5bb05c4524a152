//! The integer-ID notation: text to the syntax tree, and its canonical layout.
