//! The instructions of a program: their text, their types, and the form in which they run.

use std::fmt;

use crate::excerpt::quoted;
use crate::verdict::{Action, Reason};
use crate::words::nearest::unknown;

/// Registers that an instruction can name.
pub(crate) const REGISTERS: usize = 256;

/// Failure of an instruction: the reason, and the values that it could not use.
pub(crate) struct Failed {
    pub(crate) instruction: usize,
    pub(crate) why: String,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    Float,
    Bool,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Int => "int",
            Type::Float => "float",
            Type::Bool => "bool",
        })
    }
}

/// A value without its type; the check of the program has determined that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    pub(crate) fn int(value: i64) -> Word {
        Word(value.cast_unsigned())
    }

    /// A size, a number or an instant; none of them reaches the largest integer.
    pub(crate) fn size(value: u64) -> Word {
        Word::int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    pub(crate) fn float(value: f64) -> Word {
        Word(value.to_bits())
    }

    pub(crate) fn bool(value: bool) -> Word {
        Word(value.into())
    }

    pub(crate) fn as_int(self) -> i64 {
        self.0.cast_signed()
    }

    pub(crate) fn as_float(self) -> f64 {
        f64::from_bits(self.0)
    }

    pub(crate) fn as_bool(self) -> bool {
        self.0 != 0
    }

    /// Return the value as a message shows it.
    pub(crate) fn shown(self, kind: Type) -> String {
        match kind {
            Type::Int => self.as_int().to_string(),
            Type::Float => format!("{:?}", self.as_float()),
            Type::Bool => self.as_bool().to_string(),
        }
    }
}

/// List words of the language: `Variant = "word"`, each with its further properties.
macro_rules! words {
    ($(#[doc = $doc:literal])+ $name:ident { $( $variant:ident = $word:literal ),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $( $variant ),+ }

        impl $name {
            pub(crate) const WORDS: &'static [&'static str] = &[$( $word ),+];

            pub(crate) fn from_word(word: &str) -> Option<$name> {
                match word { $( $word => Some($name::$variant), )+ _ => None }
            }
        }
    };
}

words! {
    /// Attribute that a program can read: of the arriving unit, its circuit, the buffer or the line.
    Attribute {
        Now = "now",
        NowPs = "now_ps",
        Bytes = "bytes",
        Size = "size",
        Index = "index",
        IsFirst = "is_first",
        IsLast = "is_last",
        Clp = "clp",
        Ect = "ect",
        Fits = "fits",
        Vc = "vc",
        Total = "total",
        Own = "own",
        Active = "active",
        Circuits = "circuits",
        Capacity = "capacity",
        Rate = "rate",
        Mcr = "mcr",
        Weight = "weight",
        Frame = "frame",
        EmptySince = "empty_since",
        EmptySincePs = "empty_since_ps",
        Overflows = "overflows",
        Mtu = "mtu",
        Queue = "queue",
        Waiting = "waiting",
        Waited = "waited",
        WaitedPs = "waited_ps",
        Every = "every",
    }
}

impl Attribute {
    pub(crate) fn kind(self) -> Type {
        match self {
            Attribute::Now
            | Attribute::EmptySince
            | Attribute::Weight
            | Attribute::Waited
            | Attribute::Every => Type::Float,
            Attribute::IsFirst | Attribute::IsLast | Attribute::Clp | Attribute::Ect | Attribute::Fits => {
                Type::Bool
            }
            _ => Type::Int,
        }
    }

    /// Return whether it is one of the unit within its frame: a program that runs once a frame cannot read it.
    pub(crate) fn is_within_frame(self) -> bool {
        matches!(self, Attribute::Index | Attribute::IsFirst | Attribute::IsLast)
    }

    /// Return whether it needs the books of every circuit, and not only their total.
    pub(crate) fn needs_circuits(self) -> bool {
        matches!(self, Attribute::Own | Attribute::Active)
    }

    /// Return whether it needs the queues, unit by unit.
    pub(crate) fn needs_queues(self) -> bool {
        matches!(self, Attribute::Queue | Attribute::Waiting | Attribute::Waited | Attribute::WaitedPs)
    }

    /// Return whether it belongs to the port, and neither to a unit nor to a circuit.
    pub(crate) fn is_of_port(self) -> bool {
        matches!(
            self,
            Attribute::Now
                | Attribute::NowPs
                | Attribute::Total
                | Attribute::Active
                | Attribute::Circuits
                | Attribute::Capacity
                | Attribute::Rate
                | Attribute::EmptySince
                | Attribute::EmptySincePs
                | Attribute::Overflows
                | Attribute::Mtu
                | Attribute::Queue
                | Attribute::Every
        )
    }
}

words! {
    /// Property that a program can read of any queue.
    OfQueue {
        Length = "length",
        Octets = "octets",
        Weight = "weight",
        Mcr = "mcr",
    }
}

impl OfQueue {
    pub(crate) fn kind(self) -> Type {
        if self == OfQueue::Weight { Type::Float } else { Type::Int }
    }
}

words! {
    /// A function of one value.
    Unary {
        Neg = "neg",
        Not = "not",
        Abs = "abs",
        Int = "int",
        Float = "float",
        Sqrt = "sqrt",
        Exp = "exp",
        Log = "log",
    }
}

words! {
    /// A function of two values of one type.
    Binary {
        Add = "+",
        Sub = "-",
        Mul = "*",
        Div = "/",
        FloorDiv = "//",
        Mod = "%",
        Pow = "**",
        Min = "min",
        Max = "max",
        Lt = "<",
        Le = "<=",
        Gt = ">",
        Ge = ">=",
        Eq = "==",
        Ne = "!=",
    }
}

impl Binary {
    pub(crate) fn compares(self) -> bool {
        matches!(self, Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne)
    }
}

/// The reasons that a program can give.
pub(crate) const REASONS: [Reason; 7] = [
    Reason::Early,
    Reason::Random,
    Reason::Marked,
    Reason::Gatekeeper,
    Reason::Delay,
    Reason::Overflow,
    Reason::Partial,
];

/// Owner of a state: the port, each circuit or each queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Port,
    Vc,
    Queue,
}

/// Decision of a program: none against the unit or frame, or to lose or mark it.
pub(crate) type Decision = Option<(Action, Reason)>;

/// Way in which a program ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    /// With a decision about a unit.
    Decision(Decision),
    /// With changes of its state only.
    End,
    /// With the queue whose number is in a register.
    Queue(u8),
}

/// An instruction as it is written; names are not yet resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Instruction<'a> {
    Literal(u8, Type, Word),
    Look(u8, Attribute),
    Param(u8, &'a str),
    Load(u8, Scope, &'a str),
    Store(Scope, &'a str, u8),
    Copy(u8, u8),
    Draw(u8),
    /// A property or state of the queue whose number is in a register.
    LookAt(u8, OfQueue, u8),
    LoadAt(u8, &'a str, u8),
    StoreAt(&'a str, u8, u8),
    /// A queue that can be chosen: the next one after another, the one with the least value of its state, the longest.
    NextBacklogged(u8, u8),
    Least(u8, &'a str),
    Longest(u8),
    Unary(u8, Unary, u8),
    Binary(u8, Binary, u8, u8),
    Jump(usize),
    Unless(u8, usize),
    Answer(Answer),
}

/// Forms of an instruction.
const FORMS: &str = "write `r0 = VALUE`, `r0 = FUNCTION r1`, `r0 = r1 OPERATOR r2`, `state.NAME = r0`, `vc.NAME = r0`, \
                     `queue.NAME = r0`, `queue.NAME[r1] = r0`, `jump N`, `unless r0 jump N`, `accept`, `refuse REASON`, \
                     `mark REASON`, `choose r0` or `end`";

impl<'a> Instruction<'a> {
    /// Read one instruction.
    pub(crate) fn parse(text: &'a str) -> Result<Instruction<'a>, String> {
        let words: Vec<&str> = text.split_whitespace().take(7).collect();
        match words[..] {
            ["accept"] => Ok(decision(None)),
            ["refuse", ref rest @ ..] => Ok(decision(Some((Action::Drop, reason(rest)?)))),
            ["mark", ref rest @ ..] => Ok(decision(Some((Action::Mark, reason(rest)?)))),
            ["end"] => Ok(Instruction::Answer(Answer::End)),
            ["choose", queue] => Ok(Instruction::Answer(Answer::Queue(register(queue)?))),
            ["jump", target] => Ok(Instruction::Jump(number(target)?)),
            ["unless", condition, "jump", target] => {
                Ok(Instruction::Unless(register(condition)?, number(target)?))
            }
            [target, "=", value] if target.contains('.') => {
                let from = register(value)?;
                match indexed(target) {
                    Some((path, index)) => Ok(Instruction::StoreAt(of_queues(path)?, register(index)?, from)),
                    None => state(target).map(|(scope, name)| Instruction::Store(scope, name, from)),
                }
            }
            [target, "=", ref rest @ ..] => assignment(register(target)?, rest),
            _ => Err(FORMS.to_string()),
        }
    }

    /// The registers that it reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = u8> {
        let (first, second) = match *self {
            Instruction::Store(_, _, from)
            | Instruction::Copy(_, from)
            | Instruction::Unary(_, _, from)
            | Instruction::LookAt(_, _, from)
            | Instruction::LoadAt(_, _, from)
            | Instruction::NextBacklogged(_, from)
            | Instruction::Answer(Answer::Queue(from))
            | Instruction::Unless(from, _) => (Some(from), None),
            Instruction::StoreAt(_, left, right) | Instruction::Binary(_, _, left, right) => {
                (Some(left), Some(right))
            }
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}

fn decision<'a>(decision: Decision) -> Instruction<'a> {
    Instruction::Answer(Answer::Decision(decision))
}

fn assignment<'a>(to: u8, rest: &[&'a str]) -> Result<Instruction<'a>, String> {
    match *rest {
        ["longest"] => Ok(Instruction::Longest(to)),
        [value] => single(to, value),
        ["next_backlogged", after] => Ok(Instruction::NextBacklogged(to, register(after)?)),
        ["least", path] => Ok(Instruction::Least(to, of_queues(path)?)),
        [function, value] => match Unary::from_word(function) {
            Some(unary) => Ok(Instruction::Unary(to, unary, register(value)?)),
            None => Err(unknown("function", function, Unary::WORDS)),
        },
        [function @ ("min" | "max"), left, right] | [left, function, right] => {
            match Binary::from_word(function) {
                Some(binary) => Ok(Instruction::Binary(to, binary, register(left)?, register(right)?)),
                None => Err(unknown("operator", function, Binary::WORDS)),
            }
        }
        _ => Err(FORMS.to_string()),
    }
}

/// The assignment of one word: a constant, a register, or a name.
fn single(to: u8, value: &str) -> Result<Instruction<'_>, String> {
    if let Some((path, index)) = indexed(value) {
        return at_queue(to, path, register(index)?);
    }
    match value.split_once('.') {
        Some(("x", name)) => match Attribute::from_word(name) {
            Some(attribute) => Ok(Instruction::Look(to, attribute)),
            None => Err(unknown("attribute", name, Attribute::WORDS)),
        },
        Some(("params", name)) => Ok(Instruction::Param(to, name)),
        Some(("state", name)) => Ok(Instruction::Load(to, Scope::Port, name)),
        Some(("vc", name)) => Ok(Instruction::Load(to, Scope::Vc, name)),
        Some(("queue", name)) => Ok(Instruction::Load(to, Scope::Queue, name)),
        _ if value == "draw" => Ok(Instruction::Draw(to)),
        _ if value.starts_with('r') => Ok(Instruction::Copy(to, register(value)?)),
        _ => literal(value).map(|(kind, word)| Instruction::Literal(to, kind, word)),
    }
}

/// A path with the register of an index behind it.
fn indexed(text: &str) -> Option<(&str, &str)> {
    text.strip_suffix(']')?.split_once('[')
}

/// A property or state of the queue whose number is in register `index`.
fn at_queue<'a>(to: u8, path: &'a str, index: u8) -> Result<Instruction<'a>, String> {
    match path.strip_prefix("x.") {
        Some(name) => match OfQueue::from_word(name) {
            Some(property) => Ok(Instruction::LookAt(to, property, index)),
            None => Err(unknown("property of queues", name, OfQueue::WORDS)),
        },
        None => Ok(Instruction::LoadAt(to, of_queues(path)?, index)),
    }
}

/// Return the name of a state of queues.
fn of_queues(path: &str) -> Result<&str, String> {
    path.strip_prefix("queue.")
        .ok_or_else(|| format!("only state of queues, `queue.NAME`, is meant here, not {}", quoted(path)))
}

fn literal(text: &str) -> Result<(Type, Word), String> {
    match text {
        "true" | "false" => return Ok((Type::Bool, Word::bool(text == "true"))),
        _ if text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) => {}
        _ => return Err(format!("a value must be a number, a register or a name, not {}", quoted(text))),
    }
    if let Ok(value) = text.parse() {
        return Ok((Type::Int, Word::int(value)));
    }
    let is_float = text.contains(['.', 'e', 'E']);
    let value = text.parse::<f64>().ok().filter(|value| is_float && value.is_finite());
    let value = value.ok_or_else(|| {
        format!("a number must be an integer of 64 bits or a finite float, not {}", quoted(text))
    })?;
    Ok((Type::Float, Word::float(value)))
}

fn register(text: &str) -> Result<u8, String> {
    let number = text.strip_prefix('r').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    number
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| format!("a register must be one of r0 to r255, not {}", quoted(text)))
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        format!("the target of a jump must be the number of an instruction, not {}", quoted(text))
    })
}

fn state(text: &str) -> Result<(Scope, &str), String> {
    match text.split_once('.') {
        Some(("state", name)) => Ok((Scope::Port, name)),
        Some(("vc", name)) => Ok((Scope::Vc, name)),
        Some(("queue", name)) => Ok((Scope::Queue, name)),
        _ => Err(format!(
            "only `state.NAME`, `vc.NAME`, `queue.NAME` and registers can be assigned, not {}",
            quoted(text)
        )),
    }
}

fn reason(words: &[&str]) -> Result<Reason, String> {
    let allowed = REASONS.map(Reason::word);
    match *words {
        [] => Ok(Reason::Early),
        [word] => REASONS
            .into_iter()
            .find(|reason| reason.word() == word)
            .ok_or_else(|| unknown("reason", word, &allowed)),
        _ => Err(FORMS.to_string()),
    }
}

/// An instruction in the form in which it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Set(u8, Word),
    Look(u8, Attribute),
    Load(u8, Scope, u8),
    Store(Scope, u8, u8),
    Copy(u8, u8),
    Draw(u8),
    LookAt(u8, OfQueue, u8),
    LoadAt(u8, u8, u8),
    StoreAt(u8, u8, u8),
    NextBacklogged(u8, u8),
    /// With the type of the state.
    Least(u8, u8, Type),
    Longest(u8),
    /// With the type of its operand.
    Unary(u8, Unary, Type, u8),
    /// Of integers.
    Whole(u8, Binary, u8, u8),
    /// Of floats.
    Real(u8, Binary, u8, u8),
    Jump(u16),
    Unless(u8, u16),
    Answer(Answer),
}
