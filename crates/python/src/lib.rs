//! Python bindings: glue only.
