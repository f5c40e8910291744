//! TCP from outside: scripts for one end, and both ends over lossy pipes.
mod backoff;
mod kernel;
mod losses;
mod networks;
mod pipe;
mod script;

use pushout_core::language::spec::{Section, Table};
use pushout_core::language::tree::{Key, Node, TextPlace, Value};
use pushout_core::transport::Transport;
use pushout_core::transport::tcp::Params;

/// Return the parameters that a scenario with these keys would set.
fn params(keys: &[(String, Value)]) -> Result<Params, String> {
    let place = TextPlace::default();
    let entry = |(name, value): &(String, Value)| {
        (Key { name: name.clone(), place }, Node { value: value.clone(), place })
    };
    let node = Node { value: Value::Table(keys.iter().map(entry).collect()), place };
    let mut table = Table::new(&node, "transport").map_err(|fault| fault.to_string())?;
    let params = Params::take(&mut table).map_err(|fault| fault.to_string())?;
    table.finish().map_err(|fault| fault.to_string())?;
    params.check().map_err(|refused| refused.to_string())?;
    Ok(params)
}

fn defaults() -> Params {
    params(&[]).unwrap()
}
