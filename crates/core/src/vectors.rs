//! The test vectors in `vectors/`, for tests that compare with them.

use serde_json::Value as Json;

/// Return the vectors of a scheme.
pub(crate) fn vector(name: &str) -> Json {
    let text = match name {
        "dctcp" => include_str!("../../../vectors/dctcp.json"),
        "codel" => include_str!("../../../vectors/codel.json"),
        "pie" => include_str!("../../../vectors/pie.json"),
        "dualpi2" => include_str!("../../../vectors/dualpi2.json"),
        "red" => include_str!("../../../vectors/red.json"),
        "drr" => include_str!("../../../vectors/drr.json"),
        "cubic" => include_str!("../../../vectors/cubic.json"),
        "accecn" => include_str!("../../../vectors/accecn.json"),
        "prague" => include_str!("../../../vectors/prague.json"),
        "bbr" => include_str!("../../../vectors/bbr.json"),
        "pacing" => include_str!("../../../vectors/pacing.json"),
        "recovery" => include_str!("../../../vectors/recovery.json"),
        _ => panic!("no vectors of {name}"),
    };
    serde_json::from_str(text).expect("vectors are JSON")
}

/// Return a list of numbers.
pub(crate) fn numbers(list: &Json) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}
