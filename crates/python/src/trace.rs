//! A traced run: packets at ports as a capture file and as columns.

use pushout_core::api::Traced;
use pushout_core::trace;
use pushout_core::units::Time;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::failure::guarded;
use crate::reached::Reached;
use crate::scenario::Scenario;

/// Every packet at some ports of a run.
#[pyclass(frozen)]
pub(crate) struct Trace {
    traced: Traced,
}

#[pymethods]
impl Trace {
    /// Run and record at these ports, by default at those with a limited buffer.
    #[new]
    fn new(
        scenario: &Bound<'_, Scenario>,
        seed: Option<u64>,
        audit: bool,
        ports: Vec<String>,
        reached: &Bound<'_, Reached>,
    ) -> PyResult<Trace> {
        let (py, scenario, reached) = (reached.py(), scenario.get(), reached.get());
        let engine = scenario.checked().recording_engine();
        let trace = || reached.lend(|caller| scenario.checked().trace(seed, audit, &ports, caller));
        let traced = py.detach(|| guarded(|| scenario.described(seed, Some(engine)), trace))?;
        Ok(Trace { traced })
    }

    /// The report of the run as JSON.
    fn document(&self) -> String {
        self.traced.document.to_string()
    }

    /// The packets as a capture file.
    fn pcapng<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let Traced { scenario, ports, packets, .. } = &self.traced;
        PyBytes::new(py, &py.detach(|| trace::pcapng(scenario, ports, packets)))
    }

    /// The packets as columns, each a list with an entry for every packet.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Traced { scenario, packets, .. } = &self.traced;
        let ps = |time: Time| time.since(Time::ZERO).0;
        let columns = PyDict::new(py);
        let set = |name: &str, values: Vec<Option<u64>>| columns.set_item(name, values);
        let all =
            |of: &dyn Fn(&trace::TracedPacket) -> Option<u64>| packets.iter().map(of).collect::<Vec<_>>();
        set("arrived_ps", all(&|packet| Some(ps(packet.arrived))))?;
        set("done_ps", all(&|packet| Some(ps(packet.done))))?;
        set("frame", all(&|packet| Some(packet.frame.into())))?;
        set("units", all(&|packet| Some(packet.units.into())))?;
        set("units_sent", all(&|packet| Some(packet.sent.into())))?;
        set("units_lost", all(&|packet| Some(packet.lost.into())))?;
        set("unit_bytes", all(&|packet| Some(packet.unit_bytes.into())))?;
        set("seq", all(&|packet| packet.segment().map(|segment| segment.seq)))?;
        set(
            "ack",
            all(&|packet| packet.segment().filter(|segment| segment.is_ack).map(|segment| segment.ack)),
        )?;
        set("data_bytes", all(&|packet| packet.data().map(u64::from)))?;
        set("ecn", all(&|packet| Some(packet.ecn().codepoint().into())))?;
        let name = |key: &str, of: &dyn Fn(&trace::TracedPacket) -> Option<String>| {
            columns.set_item(key, packets.iter().map(of).collect::<Vec<_>>())
        };
        name("port", &|packet| Some(scenario.lines[packet.port].name.clone()))?;
        name("vc", &|packet| Some(scenario.vcs[packet.vc].name.clone()))?;
        name("flow", &|packet| packet.content.map(|(flow, _)| scenario.flows[flow].name.clone()))?;
        name("reason", &|packet| packet.reason.map(|reason| reason.word().to_string()))?;
        Ok(columns)
    }
}
