//! The interface for callers: texts in, texts out, so that every edge (Python, browser, server) is a few lines.

use serde_json::Value as Json;

use crate::engine::Stopwatch;
use crate::report::{Report, keys};
use crate::scenario::model::{Engine, Scenario};
use crate::scenario::{Part, Refusal, Variation, Warning};
use crate::trace::{Packet, Packets};
use crate::units::{Span, Time};
use crate::{audit, engine, language, report, scenario};

/// The text of a scenario, with its overrides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The scenario, in TOML or JSON.
    pub text: &'a str,
    /// Its name in messages, usually its file.
    pub name: &'a str,
    /// Overrides, each `key.path=value`.
    pub sets: &'a [String],
    /// Seed that replaces the scenario's.
    pub seed: Option<u64>,
    /// Engine that replaces the scenario's.
    pub engine: Option<&'a str>,
    /// Whether to audit the run; a failed audit is reported in the document.
    pub audit: bool,
}

/// A scenario for many variations: its text is read once.
#[derive(Clone, Debug)]
pub struct Base<'a> {
    file: scenario::File<'a>,
    engine: Option<&'a str>,
}

impl<'a> Base<'a> {
    /// Read a scenario; `name` is what messages call it, `engine` replaces its engine.
    pub fn read(text: &'a str, name: &'a str, engine: Option<&'a str>) -> Result<Base<'a>, String> {
        Ok(Base { file: scenario::File::read(text, name)?, engine })
    }

    /// A checker of variations, each a list of overrides. Every thread takes its own.
    pub fn checker(&self) -> impl FnMut(&[String]) -> Result<Variation, Refusal> {
        let mut variations = self.file.variations();
        move |sets| {
            let Variation { scenario, identity } = variations.load(sets)?;
            let identity = format!("{} {identity}", self.engine.unwrap_or_default());
            Ok(Variation { scenario: on_engine(scenario, self.engine)?, identity })
        }
    }
}

/// A scenario on another engine, if one is named.
fn on_engine(scenario: Scenario, engine: Option<&str>) -> Result<Scenario, Refusal> {
    let Some(word) = engine else { return Ok(scenario) };
    let refusal = |why| Refusal { message: format!("engine: {why}"), part: Some(Part::Engine) };
    let engine = Engine::from_word(word).map_err(refusal)?;
    Ok(Scenario { engine, ..scenario })
}

impl Request<'_> {
    /// The checked scenario with its warnings, or one message that says where the fault is, what it is and how to
    /// mend it.
    pub fn scenario(&self) -> Result<(Scenario, Vec<Warning>), Refusal> {
        let checked = scenario::checked(self.text, self.name, self.sets)?;
        let warnings = checked.warnings();
        let scenario = on_engine(checked.scenario, self.engine)?;
        let scenario = match self.seed {
            Some(seed) => scenario.with_seed(seed)?,
            None => scenario,
        };
        Ok((scenario, warnings))
    }
}

/// What the caller provides to a run: the core has no clock and no display.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations)] // functions have nothing to show
pub struct Caller<'a> {
    /// Its clock in seconds, read before and after the event loop.
    pub seconds: &'a dyn Fn() -> f64,
    /// Called from time to time with the simulated time reached so far, and the end.
    pub reached: &'a dyn Fn(Time, Span),
}

impl Caller<'_> {
    /// Let the caller watch a run; the second value is the time that the event loop took.
    fn watch<T>(self, scenario: &Scenario, run: impl FnOnce(&mut Stopwatch<'_>) -> T) -> (T, f64) {
        let reached = |now| (self.reached)(now, scenario.duration);
        let mut watch = Stopwatch::telling(self.seconds, &reached);
        reached(Time::ZERO);
        let outcome = run(&mut watch);
        reached(Time::ZERO + scenario.duration);
        (outcome, watch.seconds())
    }
}

/// Run a scenario and report; `seconds` is the caller's clock.
pub fn run(request: &Request<'_>, seconds: impl Fn() -> f64) -> Result<Json, Refusal> {
    run_and(request, Caller { seconds: &seconds, reached: &|_, _| () }, |report| report.document())
}

/// The same, with the report as text, which needs much less memory where there are many flows.
pub fn run_to_text(request: &Request<'_>, caller: Caller<'_>) -> Result<String, Refusal> {
    run_and(request, caller, |report| report.text())
}

fn run_and<T>(
    request: &Request<'_>,
    caller: Caller<'_>,
    write: impl FnOnce(&Report<'_>) -> T,
) -> Result<T, Refusal> {
    let (scenario, warnings) = request.scenario()?;
    let (outcome, wall_s) = caller.watch(&scenario, |watch| engine::run_timed(&scenario, false, watch));
    outcome.complete(&scenario)?;
    let (audit, wall_s) = (request.audit.then(|| audit::audit(&scenario, &outcome)), Some(wall_s));
    let (scenario, outcome, warnings) = (&scenario, &outcome, &warnings[..]);
    Ok(write(&Report { scenario, outcome, warnings, audit: audit.as_ref(), wall_s }))
}

/// The result of a traced run.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The report, with `engine.wall_s` of the caller's clock.
    pub document: Json,
    /// The scenario that ran.
    pub scenario: Scenario,
    /// Ports at which packets were recorded.
    pub ports: Vec<usize>,
    /// Every packet at these ports, by the time at which its last unit was sent or lost.
    pub packets: Vec<Packet>,
}

/// Run on the reference engine and keep every packet at the ports of these names; without names, at those with a
/// limited buffer.
pub fn trace(request: &Request<'_>, ports: &[String], caller: Caller<'_>) -> Result<Traced, Refusal> {
    let (scenario, warnings) = request.scenario()?;
    let scenario = Scenario { engine: Engine::Reference, ..scenario };
    let packets = Packets::at(&scenario, ports).map_err(|why| format!("ports to trace: {why}"))?;
    let log = !scenario.measure.losses.is_empty();
    let run = |watch: &mut Stopwatch<'_>| engine::reference::run_traced(&scenario, log, packets, watch);
    let ((outcome, packets), wall_s) = caller.watch(&scenario, run);
    outcome.complete(&scenario)?;
    let audit = request.audit.then(|| audit::audit(&scenario, &outcome));
    let document = {
        let (scenario, outcome, warnings, wall_s) = (&scenario, &outcome, &warnings[..], Some(wall_s));
        Report { scenario, outcome, warnings, audit: audit.as_ref(), wall_s }.document()
    };
    Ok(Traced { document, ports: packets.ports().collect(), packets: packets.into_list(), scenario })
}

/// Run a checked scenario with another seed and give only its figures: those of the summary, then those at `paths`.
///
/// Many short runs use this function, so the rest of the report is not written. The second value is the time that the
/// event loop took by the caller's clock.
pub fn measure(
    scenario: &Scenario,
    seed: u64,
    paths: &[String],
    caller: Caller<'_>,
) -> Result<(Json, f64), Refusal> {
    let scenario = scenario.with_seed(seed)?;
    let (outcome, wall_s) = caller.watch(&scenario, |watch| engine::run_timed(&scenario, false, watch));
    outcome.complete(&scenario)?;
    Ok((report::figures(&scenario, &outcome, paths)?.into(), wall_s))
}

/// The paths of all figures that [`measure`] would return, found by a run that ends as it begins.
pub fn figures(scenario: &Scenario, paths: &[String]) -> Result<Vec<String>, Refusal> {
    let scenario = Scenario { warmup: Span::ZERO, duration: Span(1), ..scenario.clone() };
    let found = report::figures(&scenario, &engine::run(&scenario, false), paths)?;
    Ok(found.into_iter().map(|(path, _)| path).collect())
}

/// Check a scenario; returns the warnings: what is valid, but may mislead.
pub fn validate(request: &Request<'_>) -> Result<Json, Refusal> {
    let (_, warnings) = request.scenario()?;
    Ok(warnings.iter().map(Warning::json).collect())
}

/// A scenario in its canonical, explicit form.
pub fn explain(request: &Request<'_>) -> Result<Json, Refusal> {
    let (scenario, _) = request.scenario()?;
    Ok(scenario::explain(&scenario))
}

/// Why a scenario runs on the reference engine although it asks for the fast one, if it does.
pub fn reference_because(request: &Request<'_>) -> Result<Option<&'static str>, Refusal> {
    Ok(engine::chosen(&request.scenario()?.0).1)
}

/// What the queues of shared memories may hold, a line for each class of every pool.
pub fn thresholds(request: &Request<'_>) -> Result<Vec<String>, Refusal> {
    Ok(scenario::thresholds(&request.scenario()?.0))
}

/// The message about an unknown name, with the nearest allowed one.
pub fn unknown(what: &str, name: &str, allowed: &[&str]) -> String {
    language::nearest::unknown(what, name, allowed)
}

/// What is wrong with a name, if anything.
pub fn name_fault(name: &str) -> Option<String> {
    scenario::name_fault(name)
}

/// The message about a name that is not in a report with these names; if it could be there, the message says when.
pub fn no_entry(name: &str, names: &[&str]) -> String {
    report::no_entry(name, names)
}

/// JSON Schema of scenario files.
pub fn schema() -> Json {
    scenario::schema()
}

/// JSON Schema of the documents that runs give.
pub fn result_schema() -> Json {
    keys::schema()
}

/// The documentation of scenarios, of results and of everything in the catalogue: paths below its folder, and Markdown
/// texts.
pub fn docs() -> Vec<(String, String)> {
    let mut pages = scenario::docs();
    pages.push(("result.md".to_string(), keys::page()));
    pages
}

/// The catalogue of policies, sources and transports.
pub fn policies() -> Json {
    scenario::policies()
}
