//! Effective throughput, of all flows and of each class: paper 001, sections 4.1 and 4.3.

use serde_json::{Value as Json, json};

use super::deliveries;
use crate::host::figures::Figures;
use crate::metrics::fairness::{self, ClassRate};
use crate::scenario::model::{Flow, Medium, Scenario};
use crate::units::{CELL_BYTES, CELL_PAYLOAD};

/// Add the figures that the scenario requests to the summary: none are added without classes and without a reference
/// line.
pub(super) fn append(summary: &mut Json, scenario: &Scenario, figures: &[&Figures], rates: &[f64]) {
    let all = ClassThroughput::new(scenario, rates, |_| true);
    if let Some(effective) = all.effective(scenario) {
        summary["effective_throughput"] = effective.into();
    }
    let mut names: Vec<&str> = Vec::new();
    for flow in scenario.flows.iter().filter(|flow| !flow.class.is_empty()) {
        if !names.contains(&flow.class.as_str()) {
            names.push(&flow.class);
        }
    }
    if !names.is_empty() {
        let class = |name: &&str| {
            let mut class =
                ClassThroughput::new(scenario, rates, |flow| flow.class == *name).json(name, scenario);
            let flows = scenario.flows.iter().zip(figures).filter(|(flow, _)| flow.class == *name);
            let figures = flows.map(|(_, figures)| *figures);
            class["segments_sent"] = figures.clone().map(|figures| figures.sent).sum::<u64>().into();
            class["segments_received"] = figures.clone().map(|figures| figures.received).sum::<u64>().into();
            deliveries::append(&mut class, figures);
            class
        };
        summary["classes"] = names.iter().map(class).collect();
    }
    if let Some(pair) = &scenario.measure.fairness {
        let [one, other] = pair.each_ref().map(|fair| {
            let class = ClassThroughput::new(scenario, rates, |flow| flow.class == fair.class);
            ClassRate { rate: class.ip_rate, fair: fair.share }
        });
        summary["class_fairness"] = fairness::class_ratio(one, other).into();
    }
}

/// The throughput of some flows.
struct ClassThroughput {
    rates: Vec<f64>,
    /// Bits per second of whole IP packets with their data.
    ip_rate: f64,
}

impl ClassThroughput {
    fn new(scenario: &Scenario, rates: &[f64], belongs: impl Fn(&Flow) -> bool) -> ClassThroughput {
        let flows = scenario.flows.iter().zip(rates).filter(|(flow, _)| belongs(flow));
        let (overheads, rates): (Vec<f64>, Vec<f64>) =
            flows.map(|(flow, &rate)| (flow.ip_overhead(), rate)).unzip();
        let ip_rate = rates.iter().zip(&overheads).map(|(rate, overhead)| rate * overhead).sum();
        ClassThroughput { rates, ip_rate }
    }

    /// Return the share of IP packets in the capacity of a line without cell headers: 149.76 Mb/s carry 135.63 Mb/s.
    fn effective(&self, scenario: &Scenario) -> Option<f64> {
        let line = &scenario.lines[scenario.measure.reference?];
        let room = match line.medium {
            Medium::Cells => CELL_PAYLOAD as f64 / CELL_BYTES as f64,
            Medium::Packets => 1.0,
        };
        Some(self.ip_rate / (line.rate.mean_between(scenario.warmup, scenario.duration) * room))
    }

    fn json(&self, name: &str, scenario: &Scenario) -> Json {
        let mut class = json!({
            "name": name,
            "flows": self.rates.len(),
            "goodput_bps": self.rates.iter().sum::<f64>(),
            "fairness_mean_deviation": fairness::mean_deviation(&self.rates),
        });
        if let Some(effective) = self.effective(scenario) {
            class["effective_throughput"] = effective.into();
        }
        class
    }
}
