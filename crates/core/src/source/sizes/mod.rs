//! Sizes of transfers: one size, a published table, a table in the scenario or in a file, or a formula.
//!
//! A table lists sizes with the share of transfers that are not larger. Between two entries the share grows linearly; a size is drawn by
//! inverting it.

mod file;

use serde_json::{Value as Json, json};

use file::FileSizes;

use super::length::MixPart;
use crate::language::spec::{Field, Nested, Shape, read_section};
use crate::language::tree::{Fault, Node, Value};
use crate::language::values::FileText;
use crate::refused::{Refused, refuse, refuse_if};
use crate::rng::Stream;
use crate::section;
use crate::units::Bytes;
use crate::words::nearest::unknown;

/// Octets of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// One size.
    Fixed(Bytes),
    /// A published table, by its name.
    Named(&'static str),
    /// A table.
    Table(Vec<MixPart>),
    /// A table in a file.
    File(FileSizes),
    /// Exponentially distributed.
    Exponential(ExponentialSizes),
    /// A Pareto distribution.
    Pareto(Pareto),
    /// A log-normal distribution.
    LogNormal(LogNormal),
}

section! {
    /// Exponentially distributed sizes.
    pub struct ExponentialSizes {
        /// Mean size.
        pub mean: Bytes,
    }
}

section! {
    /// Sizes with a heavy tail: of those above a least size, the share that is above x falls as x to the power of −`shape`.
    pub struct Pareto {
        /// Mean size.
        pub mean: Bytes,
        /// Exponent of the tail; the variance is infinite up to 2.
        pub shape: f64,
    }
}

section! {
    /// Sizes whose logarithm is normally distributed.
    pub struct LogNormal {
        /// Mean size.
        pub mean: Bytes,
        /// Standard deviation of the natural logarithm.
        pub sigma: f64,
    }
}

section! {
    /// The ways in which sizes can vary.
    struct SizeForms {
        /// Sizes with the share of transfers that are not larger.
        table: Option<Vec<MixPart>> = None,
        /// A file with such a table: sizes in octets, and percentages.
        file: Option<String> = None,
        /// The text of the file, which `pushout` adds.
        data: Option<FileText> = None,
        /// Exponentially distributed.
        exponential: Option<Nested<ExponentialSizes>> = None,
        /// A Pareto distribution.
        pareto: Option<Nested<Pareto>> = None,
        /// A log-normal distribution; its key is written `log_normal`.
        log_normal: Option<Nested<LogNormal>> = None,
    }
}

/// The published tables.
const PUBLISHED: [(&str, &str); 3] = [
    ("websearch", include_str!("websearch.csv")),
    ("data-mining", include_str!("data-mining.csv")),
    ("hadoop", include_str!("hadoop.csv")),
];

impl Field for Sizes {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::Text(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                Bytes::read(node, path).map(Sizes::Fixed)
            }
            Value::Text(text) => named(text).map_err(|why| node.fault(path, why)),
            _ => formula(node, path),
        }
    }

    fn write(&self) -> Json {
        match self {
            Sizes::Fixed(size) => size.write(),
            Sizes::Named(name) => (*name).into(),
            Sizes::Table(table) => json!({ "table": table.write() }),
            Sizes::File(sizes) => sizes.write(),
            Sizes::Exponential(sizes) => json!({ "exponential": Nested(sizes.clone()).write() }),
            Sizes::Pareto(sizes) => json!({ "pareto": Nested(sizes.clone()).write() }),
            Sizes::LogNormal(sizes) => json!({ "log_normal": Nested(sizes.clone()).write() }),
        }
    }

    fn shape() -> Shape {
        let form = |key: &str, schema: Json| json!({ "type": "object", "properties": { key: schema }, "required": [key], "additionalProperties": false });
        let forms = [
            json!({ "enum": PUBLISHED.map(|(name, _)| name) }),
            Bytes::shape().schema,
            form("table", Vec::<MixPart>::shape().schema),
            in_file(),
            form("exponential", Nested::<ExponentialSizes>::shape().schema),
            form("pareto", Nested::<Pareto>::shape().schema),
            form("log_normal", Nested::<LogNormal>::shape().schema),
        ];
        Shape { unit: "sizes", schema: json!({ "anyOf": forms }) }
    }
}

/// Return the JSON Schema of sizes in a file.
fn in_file() -> Json {
    let text = json!({ "type": "string" });
    let keys = json!({ "file": text, "data": text });
    let example = json!({ "file": "sizes.txt", "data": "0 0\n10000 15\n30000000 100\n" });
    json!({ "type": "object", "properties": keys, "required": ["file"], "additionalProperties": false, "examples": [example] })
}

fn named(text: &str) -> Result<Sizes, String> {
    let names = PUBLISHED.map(|(name, _)| name);
    match names.into_iter().find(|name| *name == text) {
        Some(name) => Ok(Sizes::Named(name)),
        None => Err(unknown("table of sizes", text, &names)),
    }
}

fn formula(node: &Node, path: &str) -> Result<Sizes, Fault> {
    let SizeForms { table, file, data, exponential, pareto, log_normal } = read_section(node, path)?;
    let file = file.map(|file| FileSizes::read(node, path, file, data)).transpose()?;
    let forms = [
        table.map(Sizes::Table),
        file.map(Sizes::File),
        exponential.map(|Nested(sizes)| Sizes::Exponential(sizes)),
        pareto.map(|Nested(sizes)| Sizes::Pareto(sizes)),
        log_normal.map(|Nested(sizes)| Sizes::LogNormal(sizes)),
    ];
    let mut given = forms.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(sizes), None) => Ok(sizes),
        _ => Err(node.fault(path, "must have one key: table, file, exponential, pareto or log_normal")),
    }
}

impl Sizes {
    /// Refuse an impossible distribution.
    pub fn check(&self) -> Result<(), Refused> {
        let least = "must be at least 1 byte";
        match self {
            Sizes::Fixed(size) => {
                refuse_if(*size == Bytes(0), "sizes", least)?;
                refuse_if(size.0 > MOST, "sizes", "must be at most a petabyte (1000000 GB)")
            }
            Sizes::Named(_) | Sizes::File(_) => Ok(()),
            Sizes::Table(table) => check_table(table),
            Sizes::Exponential(sizes) => refuse_if(sizes.mean == Bytes(0), "sizes.exponential.mean", least),
            Sizes::Pareto(Pareto { mean, shape }) => {
                refuse_if(*mean == Bytes(0), "sizes.pareto.mean", least)?;
                refuse_if(
                    *shape <= 1.0,
                    "sizes.pareto.shape",
                    "must be greater than 1: up to 1 there is no mean",
                )
            }
            Sizes::LogNormal(LogNormal { mean, sigma }) => {
                refuse_if(*mean == Bytes(0), "sizes.log_normal.mean", least)?;
                refuse_if(!(0.0..=10.0).contains(sigma), "sizes.log_normal.sigma", "must be from 0 to 10")
            }
        }
    }

    /// Return the mean size in octets.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(Bytes(mean))
            | Sizes::Exponential(ExponentialSizes { mean: Bytes(mean) })
            | Sizes::Pareto(Pareto { mean: Bytes(mean), .. })
            | Sizes::LogNormal(LogNormal { mean: Bytes(mean), .. }) => *mean as f64,
            Sizes::Named(name) => mean_of(&published(name)),
            Sizes::Table(table) => mean_of(table),
            Sizes::File(sizes) => mean_of(&sizes.table),
        }
    }

    /// Return the generator that draws one size after another.
    pub fn draws(&self, stream: Stream) -> SizeDraws {
        let form = match self {
            Sizes::Named(name) => Sizes::Table(published(name)),
            Sizes::File(sizes) => Sizes::Table(sizes.table.clone()),
            other => other.clone(),
        };
        SizeDraws { form, stream }
    }
}

/// Return the entries of a published table.
fn published(name: &str) -> Vec<MixPart> {
    let text = PUBLISHED.iter().find(|(other, _)| *other == name).map_or("", |(_, text)| text);
    let rows = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    let entry = |row: &str| {
        let (size, share) = row.split_once(',')?;
        Some(MixPart(Bytes(size.parse().ok()?), share.parse().ok()?))
    };
    rows.map(|row| entry(row).expect("a published table has a size and a share in each row")).collect()
}

fn check_table(table: &[MixPart]) -> Result<(), Refused> {
    let key = "sizes.table";
    for (number, pair) in table.windows(2).enumerate() {
        let falls = pair[1].0 < pair[0].0 || pair[1].1 < pair[0].1;
        refuse_if(
            falls,
            key,
            format!("must not fall, neither in size nor in share, as entry {} does", number + 2),
        )?;
    }
    match (table.first(), table.last()) {
        (Some(first), Some(last)) if first.1 >= 0.0 && last.1 == 1.0 && last.0 > Bytes(0) => Ok(()),
        (None, _) => refuse(key, "must have an entry: sizes with the share of transfers that are not larger"),
        _ => refuse(key, "must have shares from 0 on, and 1 in its last entry"),
    }
}

/// Return the mean size of a table: sizes are uniformly distributed between two entries, and the share of the first
/// entry has exactly its size.
fn mean_of(table: &[MixPart]) -> f64 {
    let between =
        |pair: &[MixPart]| (pair[1].1 - pair[0].1) * (pair[0].0.0 as f64 + pair[1].0.0 as f64) / 2.0;
    let first = table.first().map_or(0.0, |first| first.1 * first.0.0 as f64);
    first + table.windows(2).map(between).sum::<f64>()
}

/// Sizes that are drawn one after another.
#[derive(Clone, Debug)]
pub struct SizeDraws {
    form: Sizes,
    stream: Stream,
}

impl SizeDraws {
    /// Return the octets of the next transfer, at least one.
    pub fn draw(&mut self) -> u64 {
        let stream = &mut self.stream;
        let size = match &self.form {
            Sizes::Fixed(size) => return size.0,
            Sizes::Named(_) | Sizes::File(_) => unreachable!("a table is read when its draws begin"),
            Sizes::Table(table) => invert(table, stream.unit()),
            Sizes::Exponential(sizes) => sizes.mean.0 as f64 * stream.exponential(),
            Sizes::Pareto(Pareto { mean, shape }) => {
                let least = mean.0 as f64 * (shape - 1.0) / shape;
                least * libm::exp(stream.exponential() / shape)
            }
            Sizes::LogNormal(LogNormal { mean, sigma }) => {
                mean.0 as f64 * libm::exp(sigma * normal(stream) - sigma * sigma / 2.0)
            }
        };
        (libm::round(size) as u64).clamp(1, MOST)
    }
}

/// The largest transfer, in octets: a petabyte. Larger draws are cut to it.
pub const MOST: u64 = 1_000_000_000_000_000;

/// Return the size that this share of transfers does not exceed.
fn invert(table: &[MixPart], share: f64) -> f64 {
    let above = table.partition_point(|entry| entry.1 <= share);
    let Some(before) = above.checked_sub(1) else { return table[0].0.0 as f64 };
    let (MixPart(low, from), MixPart(high, to)) = (table[before], table[above.min(table.len() - 1)]);
    let part = if to > from { (share - from) / (to - from) } else { 0.0 };
    low.0 as f64 + part * (high.0 as f64 - low.0 as f64)
}

/// Draw a normally distributed number with mean 0 and variance 1 (G. Box, M. Muller, 1958).
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(2.0 * stream.exponential());
    radius * libm::cos(2.0 * std::f64::consts::PI * stream.unit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::read::{Format, read};

    fn sizes(text: &str) -> Result<Sizes, String> {
        let table = read(&format!("sizes = {text}"), Format::Toml).expect("a table");
        let Value::Table(entries) = &table.value else { panic!("a table") };
        Sizes::read(&entries[0].1, "sizes").map_err(|fault| fault.to_string())
    }

    /// Mean of many draws, and the half width of its interval of 99.9 %.
    fn drawn(sizes: &Sizes) -> (f64, f64) {
        let n = 400_000;
        let mut draws = sizes.draws(Stream::new(5, "sizes"));
        let all: Vec<f64> = (0..n).map(|_| draws.draw() as f64).collect();
        let mean = all.iter().sum::<f64>() / f64::from(n);
        let variance = all.iter().map(|size| (size - mean) * (size - mean)).sum::<f64>() / f64::from(n);
        (mean, 3.29 * (variance / f64::from(n)).sqrt())
    }

    #[test]
    fn published_tables_have_the_means_that_their_users_print() {
        for (name, printed) in
            [("websearch", 1_711_222.0), ("data-mining", 5_036_535.0), ("hadoop", 120_421.0)]
        {
            let mean = sizes(&format!("'{name}'")).unwrap().mean();
            assert!((mean - printed).abs() < 1.0, "{name}: {mean}, not {printed}"); // some cut, some round
        }
    }

    #[test]
    fn sizes_have_the_mean_that_is_asked_for() {
        let all = [
            "'websearch'",
            "'hadoop'",
            "{ table = [['1 kB', 0.5], ['3 kB', 1]] }",
            "{ exponential = { mean = '30 kB' } }",
            "{ pareto = { mean = '100 kB', shape = 3.5 } }",
            "{ log_normal = { mean = '30 kB', sigma = 1 } }",
        ];
        for text in all {
            let sizes = sizes(text).unwrap();
            let (mean, half) = drawn(&sizes);
            assert!(
                (mean - sizes.mean()).abs() < half + 0.5,
                "{text}: {mean} ± {half}, not {}",
                sizes.mean()
            );
        }
    }

    #[test]
    fn a_table_is_inverted_between_its_entries() {
        let table = [
            MixPart(Bytes(100), 0.2),
            MixPart(Bytes(200), 0.6),
            MixPart(Bytes(200), 0.8),
            MixPart(Bytes(400), 1.0),
        ];
        let at = |share| invert(&table, share);
        assert_eq!([at(0.0), at(0.1), at(0.2)], [100.0; 3]);
        assert!(
            (at(0.4) - 150.0).abs() < 1e-9
                && (at(0.7) - 200.0).abs() < 1e-9
                && (at(0.9) - 300.0).abs() < 1e-9
        );
        assert_eq!(mean_of(&table), 0.2 * 100.0 + 0.4 * 150.0 + 0.2 * 200.0 + 0.2 * 300.0);
    }

    #[test]
    fn a_heavy_tail_has_its_exponent() {
        let pareto = sizes("{ pareto = { mean = '300 kB', shape = 1.5 } }").unwrap(); // from 100 kB on
        let mut draws = pareto.draws(Stream::new(2, "sizes"));
        let n = 200_000;
        let above = (0..n).filter(|_| draws.draw() > 1_000_000).count() as f64;
        let expected = f64::from(n) * 10f64.powf(-1.5);
        assert!((above - expected).abs() < 3.29 * expected.sqrt(), "{above}, not {expected}");
    }

    #[test]
    fn sizes_are_written_as_they_were_read_and_wrong_ones_are_refused() {
        for text in ["'1 MB'", "'websearch'", "{ table = [['1 kB', 0.5], ['3 kB', 1.0]] }"] {
            let read = sizes(text).unwrap();
            assert_eq!(sizes(&read.write().to_string().replace("\":", "\"=")), Ok(read));
        }
        let why = |text: &str| sizes(text).unwrap().check().unwrap_err().to_string();
        assert!(why("{ table = [['1 kB', 0.5], ['3 kB', 0.4], ['4 kB', 1]] }").contains("as entry 2 does"));
        assert!(why("{ table = [['1 kB', 0.5], ['3 kB', 0.9]] }").contains("1 in its last entry"));
        assert!(why("{ table = [] }").contains("must have an entry"));
        assert!(why("{ pareto = { mean = '1 kB', shape = 1 } }").contains("sizes.pareto.shape"));
        assert!(sizes("'webserch'").unwrap_err().contains("did you mean \"websearch\"?"));
        assert!(sizes("{}").unwrap_err().contains("must have one key"));
    }
}
