//! A TOML file that is not a scenario, as Python values, with the positions of its faults.

use pushout_core::language::document;
use pushout_core::language::tree::{Node, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::failure::ScenarioError;

/// A file that was read.
#[pyclass(frozen)]
pub(crate) struct Document(document::Document);

#[pymethods]
impl Document {
    /// Read a text; one that is not a table of keys in TOML or JSON raises `ScenarioError`.
    #[new]
    fn new(text: String, name: String) -> PyResult<Document> {
        document::Document::read(text, name).map(Document).map_err(ScenarioError::new_err)
    }

    /// Return all of its values.
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, self.0.root())
    }

    /// A message with the place of the value at a path, or of its key.
    fn tell(&self, path: Vec<String>, key: bool, message: &str) -> String {
        self.0.tell(&path, key, message)
    }
}

fn object<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
    match &node.value {
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::Integer(value) => value.into_bound_py_any(py),
        Value::Float(value) => value.into_bound_py_any(py),
        Value::Text(value) => value.into_bound_py_any(py),
        Value::List(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Value::Table(entries) => {
            let table = PyDict::new(py);
            entries.iter().try_for_each(|(key, item)| table.set_item(&key.name, object(py, item)?))?;
            Ok(table.into_any())
        }
    }
}
