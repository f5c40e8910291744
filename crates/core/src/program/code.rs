//! The words of programs, the types of values, and the instructions with their names resolved.

use std::fmt;

use crate::verdict::{Action, Reason};

/// Number of registers that an instruction can name.
pub(crate) const REGISTERS: usize = 256;

/// A register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reg(pub(crate) u8);

impl Reg {
    /// Return its index in a list of all registers.
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// The failure of an instruction: the reason, and the values that the instruction could not use.
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

/// A value without its type, which the check of the program has determined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    pub(crate) fn int(value: i64) -> Word {
        Word(value.cast_unsigned())
    }

    /// Convert a size, a number or an instant; in practice none of these exceeds the largest integer.
    pub(crate) fn size(value: u64) -> Word {
        Word::int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    pub(crate) fn float(value: f64) -> Word {
        Word(value.to_bits())
    }

    pub(crate) fn bool(value: bool) -> Word {
        Word(value.into())
    }

    /// Return the value as it is stored, of any type.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// Return the value that is stored so.
    pub(crate) fn of_bits(bits: u64) -> Word {
        Word(bits)
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

/// Declare an enum of words of programs: each line has `Variant = "word"` and further properties of the word.
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
    /// Attribute that a program can read: of the arriving unit, its circuit, the buffer or the line; of an acknowledgement or a loss.
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
        Acked = "acked",
        Delivered = "delivered",
        Lost = "lost",
        Marked = "marked",
        Opens = "opens",
        Rtt = "rtt",
        RttPs = "rtt_ps",
        Mss = "mss",
        Flight = "flight",
        Acknowledged = "acknowledged",
        Sent = "sent",
        Advertised = "advertised",
        ByTimeout = "by_timeout",
        ByMark = "by_mark",
    }
}

impl Attribute {
    pub(crate) fn kind(self) -> Type {
        match self {
            Attribute::Now
            | Attribute::EmptySince
            | Attribute::Weight
            | Attribute::Waited
            | Attribute::Every
            | Attribute::Rtt => Type::Float,
            Attribute::IsFirst
            | Attribute::IsLast
            | Attribute::Clp
            | Attribute::Ect
            | Attribute::Fits
            | Attribute::Marked
            | Attribute::Opens
            | Attribute::ByTimeout
            | Attribute::ByMark => Type::Bool,
            _ => Type::Int,
        }
    }

    /// Return whether the attribute is the place of a unit within its frame, which a program that runs once a frame
    /// cannot read.
    pub(crate) fn is_within_frame(self) -> bool {
        matches!(self, Attribute::Index | Attribute::IsFirst | Attribute::IsLast)
    }

    /// Return whether the attribute needs the occupancy of every circuit, and not only the total.
    pub(crate) fn needs_circuits(self) -> bool {
        matches!(self, Attribute::Own | Attribute::Active)
    }

    /// Return whether the attribute needs the queues with each of their units.
    pub(crate) fn needs_queues(self) -> bool {
        matches!(self, Attribute::Queue | Attribute::Waiting | Attribute::Waited | Attribute::WaitedPs)
    }

    /// Return whether the attribute belongs to a connection, and not to a port.
    pub(crate) fn is_of_connection(self) -> bool {
        use Attribute::{Acked, Acknowledged, Advertised, ByMark, ByTimeout, Delivered, Flight, Lost};
        use Attribute::{Marked, Mss, Opens, Rtt, RttPs, Sent};
        matches!(self, Acked | Delivered | Lost | Marked | Opens | Rtt | RttPs | ByTimeout | ByMark)
            || matches!(self, Mss | Flight | Acknowledged | Sent | Advertised)
    }

    /// Return whether the attribute has a meaning for a unit that requests room in a memory.
    pub(crate) fn is_of_memory(self) -> bool {
        use Attribute::{Active, Bytes, Capacity, Circuits, Clp, Ect, Fits, Own, Total};
        use Attribute::{EmptySince, EmptySincePs, Index, IsFirst, IsLast, Now, NowPs, Queue, Rate, Size};
        matches!(
            self,
            Now | NowPs | EmptySince | EmptySincePs | Bytes | Size | Index | IsFirst | IsLast | Clp | Ect
        ) || matches!(self, Fits | Total | Own | Active | Circuits | Capacity | Rate | Queue)
    }

    /// Return whether the attribute belongs to the port, and neither to a unit nor to a circuit.
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

/// Owner of a state variable: the port, each circuit or each queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Port,
    Vc,
    Queue,
}

/// Decision of a program about a unit or frame: `None` accepts it, otherwise it is discarded or marked for a reason.
pub(crate) type Decision = Option<(Action, Reason)>;

/// The end of a program's run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    /// With a decision about a unit.
    Decision(Decision),
    /// Without a decision: the program only changes its state.
    End,
    /// With the choice of the queue whose number is in a register.
    Queue(Reg),
}

/// An instruction whose names and types are resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Set {
        to: Reg,
        value: Operand,
    },
    Store {
        scope: Scope,
        place: u8,
        from: Reg,
    },
    StoreAt {
        place: u8,
        queue: Reg,
        from: Reg,
    },
    Jump {
        target: u16,
    },
    /// Jump if the condition is as `when` says.
    Branch {
        condition: Condition,
        when: bool,
        target: u16,
    },
    Answer(Answer),
}

/// The condition of a jump: a register, or a comparison of two registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Condition {
    Register(Reg),
    Whole { operator: Binary, left: Reg, right: Reg },
    Real { operator: Binary, left: Reg, right: Reg },
}

/// A value that a running program assigns; `place` is the index of a state variable among those of its scope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operand {
    Constant(Word),
    Attribute(Attribute),
    State {
        scope: Scope,
        place: u8,
    },
    Register(Reg),
    Draw,
    Property {
        property: OfQueue,
        queue: Reg,
    },
    StateAt {
        place: u8,
        queue: Reg,
    },
    NextBacklogged {
        after: Reg,
    },
    /// The queue with the least value of a state variable, whose type is `kind`.
    Least {
        place: u8,
        kind: Type,
    },
    Longest,
    /// With the type of its operand.
    Unary {
        function: Unary,
        kind: Type,
        of: Reg,
    },
    /// An operator on two integers.
    Whole {
        operator: Binary,
        left: Reg,
        right: Reg,
    },
    /// An operator on two floats.
    Real {
        operator: Binary,
        left: Reg,
        right: Reg,
    },
}
