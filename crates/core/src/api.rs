//! The interface for callers. It takes and returns texts, so that each binding (Python, browser, server) needs only a
//! few lines.

use std::borrow::Cow;

use serde_json::Value as Json;

use crate::audit::Audit;
use crate::engine::{Outcome, Stopwatch};
use crate::report::{Listing, Report, keys};
use crate::scenario::model::{EngineKind, Scenario};
use crate::scenario::{Refusal, RequestPart, Variation, Warning};
use crate::trace::{TracedPacket, TracedPackets};
use crate::units::ids::LineId;
use crate::units::{Span, Time};
use crate::{audit, engine, report, scenario, why, words};

/// The text of a scenario, with its overrides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The scenario, in TOML or JSON.
    pub text: &'a str,
    /// Name of the scenario in messages, usually the file name.
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
    /// Read a scenario; messages call it `name`, and `engine` replaces its engine.
    pub fn read(text: &'a str, name: &'a str, engine: Option<&'a str>) -> Result<Base<'a>, String> {
        Ok(Base { file: scenario::File::read(text, name)?, engine })
    }

    /// Return a checker of variations, each a list of overrides. Each thread needs its own checker.
    pub fn checker(&self) -> impl FnMut(&[String]) -> Result<Variation, Refusal> {
        let mut variations = self.file.variations();
        move |sets| {
            let Variation { scenario, identity } = variations.load(sets)?;
            let identity = format!("{} {identity}", self.engine.unwrap_or_default());
            Ok(Variation { scenario: on_engine(scenario, self.engine)?, identity })
        }
    }
}

/// Return the scenario with another engine, if `engine` names one.
fn on_engine(scenario: Scenario, engine: Option<&str>) -> Result<Scenario, Refusal> {
    let Some(word) = engine else { return Ok(scenario) };
    let refusal = |why| Refusal {
        message: format!("engine: {why}"),
        part: Some(RequestPart::Engine),
        ..Refusal::default()
    };
    let engine = EngineKind::from_word(word).map_err(refusal)?;
    Ok(Scenario { engine, ..scenario })
}

impl Request<'_> {
    /// Return the checked scenario with its warnings; the error is one message with place, fault and remedy.
    pub fn scenario(&self) -> Result<(Scenario, Vec<Warning>), Refusal> {
        let CheckedScenario { scenario, warnings } =
            CheckedScenario::of(self.text, self.name, self.sets, self.engine)?;
        let scenario = match self.seed {
            Some(seed) => scenario.with_seed(seed)?,
            None => scenario,
        };
        Ok((scenario, warnings))
    }
}

/// What a caller provides for a run, since the core has no clock and no display.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations)] // functions have nothing to show
pub struct Caller<'a> {
    /// The caller's clock in seconds, read before and after the event loop.
    pub seconds: &'a dyn Fn() -> f64,
    /// Called from time to time with the simulated time reached so far, and the end.
    pub reached: &'a dyn Fn(Time, Span),
}

impl Caller<'_> {
    /// Report the progress of a run to the caller; the second returned value is the duration of the event loop in
    /// seconds.
    fn watch<T>(self, scenario: &Scenario, run: impl FnOnce(&mut Stopwatch<'_>) -> T) -> (T, f64) {
        let reached = |now| (self.reached)(now, scenario.duration);
        let mut watch = Stopwatch::telling(self.seconds, &reached);
        reached(Time::ZERO);
        let outcome = run(&mut watch);
        reached(Time::ZERO + scenario.duration);
        (outcome, watch.seconds())
    }
}

/// A scenario that has been checked, with its warnings, for any number of runs.
#[derive(Clone, Debug)]
pub struct CheckedScenario {
    scenario: Scenario,
    warnings: Vec<Warning>,
}

/// The result of a traced run.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The report, with `engine.wall_s` of the caller's clock.
    pub document: Json,
    /// The scenario that ran.
    pub scenario: Scenario,
    /// Ports at which packets were recorded.
    pub ports: Vec<LineId>,
    /// Every packet at these ports, by the time at which its last unit was sent or lost.
    pub packets: Vec<TracedPacket>,
}

impl CheckedScenario {
    /// Check a scenario with its overrides; messages call it `name`, and `engine` replaces its engine.
    pub fn of(
        text: &str,
        name: &str,
        sets: &[String],
        engine: Option<&str>,
    ) -> Result<CheckedScenario, Refusal> {
        let checked = scenario::checked(text, name, sets)?;
        let warnings = checked.warnings();
        Ok(CheckedScenario { scenario: on_engine(checked.scenario, engine)?, warnings })
    }

    /// Return the seed of the scenario.
    pub fn seed(&self) -> u64 {
        self.scenario.seed
    }

    /// Return the warnings about valid input that may mislead.
    pub fn warnings(&self) -> Json {
        self.warnings.iter().map(Warning::json).collect()
    }

    /// Return the scenario's canonical, explicit form, with another seed if one is given.
    pub fn explain(&self, seed: Option<u64>) -> Result<Json, Refusal> {
        Ok(scenario::explain(&*self.with_seed(seed)?))
    }

    /// Return the reason why the scenario runs on the reference engine although it names the fast one; `None` if it
    /// does not.
    pub fn reference_because(&self) -> Option<&'static str> {
        engine::chosen(&self.scenario).1
    }

    /// List the limits of the queues of shared memories, a line for each class of every pool.
    pub fn thresholds(&self) -> Vec<String> {
        scenario::thresholds(&self.scenario)
    }

    /// Say which senders pace and by which rate: a line for each size of bursts.
    pub fn paced(&self) -> Vec<String> {
        scenario::paced(&self.scenario)
    }

    /// Write the opportunities of a line as mahimahi writes them: in each line of the text the millisecond at which a packet of 1500 octets
    /// has left, if one always waits.
    pub fn opportunities(&self, line: &str) -> Result<String, Refusal> {
        let Scenario { lines, seed, duration, .. } = &self.scenario;
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        let found = lines.iter().find(|known| known.name == line);
        let law = &found.ok_or_else(|| unknown("link", line, &names))?.rate;
        let times = law.opportunities(*seed, line, *duration);
        match times.last() {
            None => {
                Err(format!("duration must be longer: no packet of 1500 bytes leaves {line:?} in {duration}")
                    .into())
            }
            Some(_) => Ok(times.iter().map(|time| format!("{time}\n")).collect()),
        }
    }

    /// Run the scenario once, with another seed if one is given, and return the report.
    pub fn run(
        &self,
        seed: Option<u64>,
        audit: bool,
        listing: Listing,
        caller: Caller<'_>,
    ) -> Result<String, Refusal> {
        let scenario = self.with_seed(seed)?;
        report_run(&scenario, &self.warnings, audit, caller, |report| Report { listing, ..report }.text())
    }

    /// Return the name of the engine that records packets.
    pub fn recording_engine(&self) -> &'static str {
        match engine::recording(&self.scenario) {
            EngineKind::Fast => "fast",
            EngineKind::Reference => "reference",
        }
    }

    /// Run the scenario and record every packet at the ports of these names; without names, at all ports with a limited
    /// buffer. Where links carry cells the reference engine runs it.
    pub fn trace(
        &self,
        seed: Option<u64>,
        audit: bool,
        ports: &[String],
        caller: Caller<'_>,
    ) -> Result<Traced, Refusal> {
        let scenario = self.with_seed(seed)?.into_owned();
        let scenario = Scenario { engine: engine::recording(&scenario), ..scenario };
        let packets = TracedPackets::at(&scenario, ports).map_err(|why| format!("ports to trace: {why}"))?;
        let run = |watch: &mut Stopwatch<'_>| engine::run_recorded(&scenario, false, packets, watch);
        let ((outcome, packets), wall_s) = caller.watch(&scenario, run);
        outcome.complete(&scenario)?;
        let audit = audit.then(|| audit::audit(&scenario, &outcome));
        let document = document(&scenario, &outcome, &self.warnings, audit.as_ref(), wall_s).document();
        Ok(Traced { document, ports: packets.ports().collect(), packets: packets.into_list(), scenario })
    }

    /// Answer why a frame was lost, marked, cut or late, as JSON. `request` is described in `why/request.rs`; `rivals`
    /// are this scenario with other policies, each with its name; `progress` is called before each counterfactual with
    /// its number and the number of all, and stops the search with `false`.
    pub fn why(
        &self,
        seed: Option<u64>,
        request: &Json,
        rivals: &[(&str, &CheckedScenario)],
        progress: why::Progress<'_>,
    ) -> Result<Json, Refusal> {
        let scenario = self.with_seed(seed)?;
        let others = rivals.iter().map(|(name, other)| Ok((*name, other.with_seed(seed)?)));
        let others = others.collect::<Result<Vec<_>, Refusal>>()?;
        let rivals: Vec<why::Rival<'_>> = others.iter().map(|(name, other)| (*name, &**other)).collect();
        Ok(why::answer(&scenario, &why::Asked::read(request)?, &rivals, progress)?)
    }

    fn with_seed(&self, seed: Option<u64>) -> Result<Cow<'_, Scenario>, Refusal> {
        match seed.filter(|&seed| seed != self.scenario.seed) {
            Some(seed) => self.scenario.with_seed(seed).map(Cow::Owned),
            None => Ok(Cow::Borrowed(&self.scenario)),
        }
    }
}

/// Run a scenario and return the report; `seconds` is the caller's clock.
pub fn run(request: &Request<'_>, seconds: impl Fn() -> f64) -> Result<Json, Refusal> {
    run_request(request, &seconds, |report| report.document())
}

/// Like [`run`], but return the report as text.
pub fn run_as_text(request: &Request<'_>, seconds: impl Fn() -> f64) -> Result<String, Refusal> {
    run_request(request, &seconds, |report| report.text())
}

fn run_request<T>(
    request: &Request<'_>,
    seconds: &dyn Fn() -> f64,
    write: impl FnOnce(Report<'_>) -> T,
) -> Result<T, Refusal> {
    let (scenario, warnings) = request.scenario()?;
    let caller = Caller { seconds, reached: &|_, _| () };
    report_run(&scenario, &warnings, request.audit, caller, write)
}

/// Run a scenario once, and build its report.
fn report_run<T>(
    scenario: &Scenario,
    warnings: &[Warning],
    audit: bool,
    caller: Caller<'_>,
    write: impl FnOnce(Report<'_>) -> T,
) -> Result<T, Refusal> {
    let (outcome, wall_s) = caller.watch(scenario, |watch| engine::run_timed(scenario, false, watch));
    outcome.complete(scenario)?;
    let audit = audit.then(|| audit::audit(scenario, &outcome));
    Ok(write(document(scenario, &outcome, warnings, audit.as_ref(), wall_s)))
}

/// Build the report of a run that took `wall_s` seconds.
fn document<'a>(
    scenario: &'a Scenario,
    outcome: &'a Outcome,
    warnings: &'a [Warning],
    audit: Option<&'a Audit>,
    wall_s: f64,
) -> Report<'a> {
    Report { scenario, outcome, warnings, audit, wall_s: Some(wall_s), listing: Listing::All }
}

/// Run a checked scenario with another seed and return only its figures: those of the summary, then those at `paths`.
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

/// Return the paths of all figures that [`measure`] would return; a run of one picosecond finds them.
pub fn figures(scenario: &Scenario, paths: &[String]) -> Result<Vec<String>, Refusal> {
    let scenario = Scenario { warmup: Span::ZERO, duration: Span(1), ..scenario.clone() };
    let found = report::figures(&scenario, &engine::run(&scenario, false), paths)?;
    Ok(found.into_iter().map(|(path, _)| path).collect())
}

/// Return a scenario in its canonical, explicit form.
pub fn explain(request: &Request<'_>) -> Result<Json, Refusal> {
    let (scenario, _) = request.scenario()?;
    Ok(scenario::explain(&scenario))
}

/// Return the message about an unknown name, with the nearest allowed one.
pub fn unknown(what: &str, name: &str, allowed: &[&str]) -> String {
    words::nearest::unknown(what, name, allowed)
}

/// Return what is wrong with a text as a name in a scenario; `None` if it is allowed.
pub fn name_fault(name: &str) -> Option<String> {
    crate::language::names::name_fault(name)
}

/// Return the message about a name that is not among the `names` of a report; if other scenarios have it, the message
/// gives the condition.
pub fn no_entry(name: &str, names: &[&str]) -> String {
    report::no_entry(name, names)
}

/// Return the JSON Schema of scenario files.
pub fn schema() -> Json {
    scenario::schema()
}

/// Return the JSON Schema of the reports of runs.
pub fn result_schema() -> Json {
    keys::schema()
}

/// Return the documentation of scenarios, of results and of the catalogue: paths below its folder, and Markdown
/// texts.
pub fn docs() -> Vec<(String, String)> {
    let mut pages = scenario::docs();
    pages.push(("result.md".to_string(), keys::page()));
    pages
}

/// Return the catalogue of policies, sources and transports.
pub fn policies() -> Json {
    scenario::policies()
}
