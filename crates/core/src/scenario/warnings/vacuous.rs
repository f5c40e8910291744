//! Warns of values with which a policy acts on every unit that meets a queue, or on none.

use super::of_ports;
use crate::buffer::admission::Spec;
use crate::buffer::context::Context;
use crate::buffer::size::Level;
use crate::scenario::contract::Passing;
use crate::scenario::model::Scenario;
use crate::scenario::warning::Warning;
use crate::units::Span;

/// Warn of admission policies with a target, a probability or a threshold of zero.
pub(super) fn values(scenario: &Scenario, passing: &Passing) -> Option<Warning> {
    of_ports("vacuous-value", scenario, passing, |line, context| {
        let (key, zero, follows) = vacuous(&line.port.admission, context)?;
        Some(format!("{key} of {} is {zero}: it {follows}", line.port.admission.name()))
    })
}

/// Return a key of zero, its value, and what follows.
fn vacuous(policy: &Spec, context: &Context<'_>) -> Option<(&'static str, &'static str, &'static str)> {
    let target = |time: Span| {
        let follows = "discards or marks whenever packets wait; write the wait that is acceptable";
        (time == Span::ZERO).then_some(("target", "0 s", follows))
    };
    let never = |share: f64| {
        let follows = "does nothing between its thresholds; write a probability greater than 0";
        (share == 0.0).then_some(("max_p", "0", follows))
    };
    let always = |level: Level| {
        let follows =
            "acts on every unit that does not find the port empty; write the occupancy that is acceptable";
        matches!(context.level("threshold", level), Ok(0)).then_some(("threshold", "0", follows))
    };
    match policy {
        Spec::Codel(params) => target(params.target),
        Spec::Pie(params) => target(params.target),
        Spec::Pi2(params) => target(params.target),
        Spec::Red(params) => never(params.max_p),
        Spec::AtmRed(params) => never(params.max_p),
        Spec::Fred(params) => never(params.max_p),
        Spec::Wfepd(params) => never(params.max_p),
        Spec::Step(params) => always(params.threshold),
        Spec::Epd(params) => always(params.threshold),
        Spec::Fba(params) => always(params.threshold),
        Spec::SelectiveDrop(params) => always(params.threshold),
        Spec::VirtualQueueing(params) => always(params.threshold),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::checked;

    fn warned(admission: &str) -> Option<String> {
        let lan = include_str!("../../../../../scenarios/lan.toml");
        let sets = [format!("port.bottleneck.admission={admission}")];
        let warnings = checked(lan, "x.toml", &sets).unwrap().warnings();
        warnings.into_iter().find(|warning| warning.code == "vacuous-value").map(|warning| warning.message)
    }

    #[test]
    fn a_value_of_zero_that_makes_a_policy_act_always_or_never_is_reported() {
        for (policy, key, zero, other) in [
            ("codel", "target", "0 s", "1 us"),
            ("pie", "target", "0 s", "1 us"),
            ("pi2", "target", "0 s", "1 us"),
            ("red", "max_p", "0", "0.001"),
            ("atm-red", "max_p", "0", "0.001"),
            ("fred", "max_p", "0", "0.001"),
            ("wfepd", "max_p", "0", "0.001"),
            ("step", "threshold", "0 cells", "1 cells"),
            ("epd", "threshold", "0 cells", "1 cells"),
            ("fba", "threshold", "0 cells", "1 cells"),
            ("selective-drop", "threshold", "0 cells", "1 cells"),
            ("virtual-queueing", "threshold", "0 cells", "1 cells"),
        ] {
            let with = |value: &str| {
                let value = if key == "max_p" { value.to_string() } else { format!("'{value}'") };
                warned(&format!("{{policy='{policy}', {key}={value}}}"))
            };
            let told = with(zero).unwrap_or_default();
            let shown = if key == "threshold" { "0" } else { zero };
            assert!(
                told.starts_with(&format!("port \"bottleneck\": {key} of {policy} is {shown}: it ")),
                "{told}"
            );
            assert_eq!(with(other), None, "{policy}");
        }
    }
}
