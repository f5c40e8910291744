//! A network in a test: `python/pushout/path.py` is the interface.

use pushout_core::scenario::Refusal;
use pushout_net::{Cause, Counts, Delivery, Ecn, Error, Fate, Flow, Handle, Host, Port, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::failure::Failure;

/// A packet: handle, flow, host, octets, instants in picoseconds, fate, and the port, rule and reason of a loss or a mark.
type Ended = (u64, u64, u32, u32, u64, u64, &'static str, Option<(String, &'static str, &'static str)>);
/// Why a packet was lost: port, rule, reason, packets and octets that it found, and its causes.
type Causes = (String, &'static str, &'static str, u64, u64, Vec<(Option<u64>, String, u64, u64, usize)>);

/// A network in virtual time.
#[pyclass]
pub(crate) struct Path {
    path: pushout_net::Path,
}

fn refused(error: Error) -> PyErr {
    match error {
        Error::Scenario(message) => Failure::Scenario(Refusal { message, ..Refusal::default() }).into(),
        error => PyValueError::new_err(error.to_string()),
    }
}

#[pymethods]
impl Path {
    /// Build a path with one bottleneck from the settings that are given, by name.
    #[staticmethod]
    #[pyo3(signature = (texts, numbers, loss))]
    fn build(texts: Vec<(String, String)>, numbers: Vec<(String, u64)>, loss: f64) -> PyResult<Path> {
        let mut builder = pushout_net::Path::builder().loss(loss);
        for (key, text) in texts {
            builder = match key.as_str() {
                "rate" => builder.rate(text),
                "rate_back" => builder.rate_back(text),
                "delay" => builder.delay(text),
                "access" => builder.access(text),
                "buffer" => builder.buffer(text),
                "policy" => builder.policy(text),
                _ => builder.toml(&text),
            };
        }
        for (key, number) in numbers {
            let small = u32::try_from(number).unwrap_or(u32::MAX);
            builder = match key.as_str() {
                "hosts" => builder.hosts(small as usize),
                "flows" => builder.flows(small as usize),
                "mtu" => builder.mtu(small),
                _ => builder.seed(number),
            };
        }
        Ok(Path { path: builder.build().map_err(refused)? })
    }

    /// Build the network of a scenario.
    #[staticmethod]
    fn from_toml(text: &str, mtu: u32) -> PyResult<Path> {
        let mut path = pushout_net::Path::from_toml(text).map_err(refused)?;
        path.set_mtu(mtu).map_err(refused)?;
        Ok(Path { path })
    }

    fn copy(&self) -> Path {
        Path { path: self.path.clone() }
    }

    fn hosts(&self) -> Vec<String> {
        self.path.hosts().into_iter().map(str::to_string).collect()
    }

    fn host(&self, name: &str) -> PyResult<u32> {
        self.path.host(name).map(Host::number).map_err(refused)
    }

    fn reserve(&mut self, one: u32, other: u32, flows: usize) -> PyResult<()> {
        self.path.reserve(Host::of_number(one), Host::of_number(other), flows).map_err(refused)
    }

    fn open(&mut self, one: u32, other: u32) -> PyResult<u64> {
        self.path.open(Host::of_number(one), Host::of_number(other)).map(Flow::number).map_err(refused)
    }

    fn close(&mut self, flow: u64) -> PyResult<()> {
        self.path.close(Flow::of_number(flow)).map_err(refused)
    }

    fn flow_name(&self, flow: u64, to: u32) -> PyResult<String> {
        self.path.flow_name(Flow::of_number(flow), Host::of_number(to)).map(str::to_string).map_err(refused)
    }

    fn offer(&mut self, now_ps: u64, host: u32, octets: usize, flow: u64, ecn: u8) -> PyResult<u64> {
        let ecn = match ecn {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            other => {
                return Err(PyValueError::new_err(format!(
                    "ecn must be 0, 1 (ECT(1)) or 2 (ECT(0)), not {other}"
                )));
            }
        };
        let (now, host, flow) = (Time::from_picos(now_ps), Host::of_number(host), Flow::of_number(flow));
        self.path.offer(now, host, octets, flow, ecn).map(Handle::number).map_err(refused)
    }

    fn next(&self) -> Option<u64> {
        self.path.next().map(Time::picos)
    }

    fn take(&mut self, now_ps: u64) -> Vec<Ended> {
        let ended = self.path.take(Time::from_picos(now_ps));
        ended.iter().map(|delivery| self.ended(delivery)).collect()
    }

    fn now(&self) -> u64 {
        self.path.now().picos()
    }

    fn queue(&self, port: &str) -> PyResult<(u64, u64, u64, Option<u64>)> {
        let queue = self.path.queue(self.path.port(port).map_err(refused)?);
        Ok((queue.packets, queue.octets, queue.held, queue.limit))
    }

    fn counts(&self, flow: u64, to: u32) -> PyResult<[u64; 7]> {
        let counts = self.path.counts(Flow::of_number(flow), Host::of_number(to)).map_err(refused)?;
        let Counts { offered, arrived, marked, cut, lost, under_way, octets } = counts;
        Ok([offered, arrived, marked, cut, lost, under_way, octets])
    }

    fn why(&self, py: Python<'_>, handle: u64) -> PyResult<Option<Causes>> {
        let why = py.detach(|| self.path.why(Handle::of_number(handle))).map_err(refused)?;
        let cause = |cause: Cause| {
            (cause.handle.map(Handle::number), cause.flow, cause.number, cause.at.picos(), cause.losses)
        };
        Ok(why.map(|why| {
            let causes = why.saved_by.into_iter().map(cause).collect();
            (why.port_name, why.rule, why.reason, why.found.0, why.found.1, causes)
        }))
    }

    fn explain(&self, py: Python<'_>) -> String {
        py.detach(|| self.path.explain())
    }

    fn scenario_file(&self) -> String {
        self.path.scenario_file()
    }
}

impl Path {
    fn ended(&self, delivery: &Delivery) -> Ended {
        let &Delivery { handle, flow, to, octets, sent, at, fate } = delivery;
        let name = |port: Port| self.path.port_name(port).to_string();
        let (word, decision) = match fate {
            Fate::Marked(decision) => ("marked", Some(decision)),
            Fate::Lost(decision) => ("lost", Some(decision)),
            Fate::Cut => ("cut", None),
            _ => ("delivered", None),
        };
        let decision = decision.map(|it| (name(it.port), it.rule, it.reason));
        (handle.number(), flow.number(), to.number(), octets, sent.picos(), at.picos(), word, decision)
    }
}
