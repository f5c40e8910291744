//! Checks reordering by intent: on which line, and which packets.

use super::file::ReorderSection;
use super::losses::{lines, numbers_of};
use super::model::{Medium, Scenario};
use crate::language::item::{Item, entries};
use crate::language::tree::{Fault, Node};
use crate::link::gate::delay::LONGEST;
use crate::link::gate::reorder::{Choice, Spec};
use crate::units::ids::LineId;
use crate::units::{PartsPerMillion, Span};

/// The checked reordering by intent.
#[derive(Debug, Default)]
pub(super) struct Reorders {
    /// The entries of `[[reorder]]`.
    pub entries: Vec<ReorderSection>,
    /// For every line that an entry names, the packets that are held back behind it.
    pub specs: Vec<Spec>,
}

/// Check the entries of `[[reorder]]`.
pub(super) fn check(list: Option<&Node>, scenario: &Scenario) -> Result<Reorders, Fault> {
    let mut reorders = Reorders::default();
    let paused = scenario.paused_lines();
    for (index, entry) in entries(list, "reorder")?.iter().enumerate() {
        let item = Item::<ReorderSection>::entry(entry, "reorder", index)?;
        let (by, choice) = (item.it.by, choice(&item)?);
        item.ensure(by > Span::ZERO, "by", "must be greater than 0 s")?;
        item.ensure(by <= LONGEST, "by", "must be at most an hour")?;
        for line in lines(&item, &item.it.link, &scenario.lines)? {
            check_line(&item, line, scenario, paused[line])?;
            let drawn = |spec: &&Spec| spec.line == line && matches!(spec.choice, Choice::Share(_));
            let stream = reorders.specs.iter().filter(drawn).count().to_string();
            reorders.specs.push(Spec { line, choice: choice.clone(), by, stream });
        }
        reorders.entries.push(item.it);
    }
    Ok(reorders)
}

/// Return which packets an entry holds back.
fn choice(item: &Item<'_, ReorderSection>) -> Result<Choice, Fault> {
    let ReorderSection { share, packets, .. } = &item.it;
    match (*share, packets.is_empty()) {
        (None, false) => numbers_of(item, "packets", packets).map(Choice::Numbers),
        (Some(share), true) => {
            let is_share = share > PartsPerMillion(0) && share <= PartsPerMillion::WHOLE;
            item.ensure(is_share, "share", "must be greater than 0 % and at most 100 %")?;
            Ok(Choice::Share(share))
        }
        _ => {
            let message = "must have exactly one of the keys share and packets, and no empty list";
            Err(item.node.fault(&item.path, message))
        }
    }
}

/// Refuse lines behind which no packet can be held back.
fn check_line(
    item: &Item<'_, ReorderSection>,
    line: LineId,
    scenario: &Scenario,
    is_paused: bool,
) -> Result<(), Fault> {
    let name = &scenario.lines[line].name;
    let message = format!(
        "must be a link of packets: {name:?} carries cells, and the cells of a frame keep their order"
    );
    item.ensure(scenario.lines[line].medium == Medium::Packets, "link", &message)?;
    let message = format!(
        "must be a link that no memory pauses: headroom does not count packets that {name:?} holds back; leave out pause of its \
         classes"
    );
    item.ensure(!is_paused, "link", &message)?;
    let has_credits = scenario.lines.iter().any(|line| line.port.gates.credit.is_some());
    let message = "must be left out beside credits, which count units in the order in which they were sent";
    item.ensure(!has_credits, "link", message)
}
