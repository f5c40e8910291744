//! The steps of a program, the form in which it runs, and the registers on which it runs.

use super::code::{Answer, Attribute, Binary, OfQueue, REGISTERS, Reg, Scope, Type, Unary, Word};
use crate::verdict::{Action, Reason};

/// A step of a program: one dispatch of the interpreter. Most assign a value to register `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(8))] // an index into a list needs no multiplication
pub(super) enum Step {
    Copy {
        to: Reg,
        from: Reg,
    },
    Constant {
        to: Reg,
        place: u16,
    },
    Look {
        to: Reg,
        attribute: Attribute,
    },
    Load {
        to: Reg,
        scope: Scope,
        place: u8,
    },
    Draw {
        to: Reg,
    },
    LookAt {
        to: Reg,
        property: OfQueue,
        queue: Reg,
    },
    LoadAt {
        to: Reg,
        place: u8,
        queue: Reg,
    },
    NextBacklogged {
        to: Reg,
        after: Reg,
    },
    Least {
        to: Reg,
        place: u8,
        kind: Type,
    },
    Longest {
        to: Reg,
    },
    Unary {
        to: Reg,
        function: Unary,
        kind: Type,
        of: Reg,
    },
    Whole {
        to: Reg,
        operator: Binary,
        left: Reg,
        right: Reg,
    },
    Real {
        to: Reg,
        operator: Binary,
        left: Reg,
        right: Reg,
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
    /// Jump if a register is as `when` says.
    Branch {
        condition: Reg,
        when: bool,
        target: u16,
    },
    /// Jump if two integers are in one of these orders.
    WholeBranch {
        orders: Orders,
        left: Reg,
        right: Reg,
        target: u16,
    },
    /// Jump if two floats are in one of these orders.
    RealBranch {
        orders: Orders,
        left: Reg,
        right: Reg,
        target: u16,
    },
    Answer(Answer),
}

/// A set of orders of two values: less, equal and greater. Values of programs are numbers, so that one of these holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orders(u8);

impl Orders {
    /// Return the orders in which the result of a comparison is `when`.
    pub(super) fn of(comparison: Binary, when: bool) -> Orders {
        let orders = match comparison {
            Binary::Lt => LESS,
            Binary::Le => LESS | EQUAL,
            Binary::Gt => GREATER,
            Binary::Ge => GREATER | EQUAL,
            Binary::Eq => EQUAL,
            _ => LESS | GREATER,
        };
        if when { Orders(orders) } else { Orders(orders).opposite() }
    }

    fn opposite(self) -> Orders {
        Orders(self.0 ^ (LESS | EQUAL | GREATER))
    }

    /// Return the orders for the two values in the other order.
    fn turned(self) -> Orders {
        let turned = [(LESS, GREATER), (EQUAL, EQUAL), (GREATER, LESS)]
            .map(|(of, to)| if self.0 & of == 0 { 0 } else { to });
        Orders(turned.iter().sum())
    }

    /// Return the least value in one of the orders to another one, if all above it are so too.
    fn least(self, other: i64) -> Option<i64> {
        match self.0 {
            GREATER => other.checked_add(1),
            _ if self.0 == GREATER | EQUAL => Some(other),
            _ => None,
        }
    }

    /// Return whether these two values are in one of the orders.
    #[inline(always)]
    pub(super) fn hold<T: PartialOrd>(self, left: T, right: T) -> bool {
        let order = u8::from(left >= right) + u8::from(left > right);
        self.0 >> order & 1 == 1
    }
}

const LESS: u8 = 1 << 0;
const EQUAL: u8 = 1 << 1;
const GREATER: u8 = 1 << 2;

/// The steps of a function of a program, with its registers.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    pub(super) steps: Vec<Step>,
    /// The instruction from which each step comes, for messages.
    pub(super) instructions: Vec<u16>,
    /// Constants for which no register is left.
    pub(super) constants: Vec<Word>,
    /// Registers; those that no step writes have the constants. The content of the others before a run does not
    /// matter: the check ensures that each register is written before it is read.
    pub(super) registers: Box<[Word; REGISTERS]>,
}

impl Steps {
    /// Return the state variables of queues whose least value the steps look for, with their types.
    pub(crate) fn least(&self) -> impl Iterator<Item = (u8, Type)> {
        self.steps.iter().filter_map(|step| match *step {
            Step::Least { place, kind, .. } => Some((place, kind)),
            _ => None,
        })
    }

    /// Return the attributes that the steps read.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attribute> {
        self.steps.iter().filter_map(|step| match *step {
            Step::Look { attribute, .. } => Some(attribute),
            _ => None,
        })
    }

    /// Return the properties of queues that the steps read.
    pub(crate) fn properties(&self) -> impl Iterator<Item = OfQueue> {
        self.steps.iter().filter_map(|step| match *step {
            Step::LookAt { property, .. } => Some(property),
            _ => None,
        })
    }

    /// Return whether the steps assign a state variable of the port, or of the connection.
    pub(crate) fn stores(&self, variable: usize) -> bool {
        let is_it = |place: u8| usize::from(place) == variable;
        self.steps
            .iter()
            .any(|step| matches!(step, Step::Store { scope: Scope::Port, place, .. } if is_it(*place)))
    }

    /// Return whether the steps draw random numbers.
    pub(crate) fn draws(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Draw { .. }))
    }

    /// Return whether the steps do nothing but accept.
    #[inline]
    pub(crate) fn accepts_all(&self) -> bool {
        matches!(self.steps[..], [Step::Answer(ACCEPT)])
    }

    /// Return the occupancy from which on the steps refuse a frame early, if this is all that they do; `Some(None)` if
    /// they accept every frame.
    pub(crate) fn threshold(&self) -> Option<Option<u64>> {
        let (total, (orders, left, right), otherwise, jumped) = match self.steps[..] {
            [Step::Answer(ACCEPT)] => return Some(None),
            [
                Step::Look { to, attribute: Attribute::Total },
                Step::WholeBranch { orders, left, right, target: 3 },
                Step::Answer(otherwise),
                Step::Answer(jumped),
            ] if left != right => (to, (orders, left, right), otherwise, jumped),
            _ => return None,
        };
        // The other register has a constant, for no step writes it.
        let (orders, level) = if left == total { (orders, right) } else { (orders.turned(), left) };
        let orders = match (otherwise, jumped) {
            (REFUSE, ACCEPT) => orders.opposite(),
            (ACCEPT, REFUSE) => orders,
            _ => return None,
        };
        let least = orders.least(self.registers[level.index()].as_int());
        least.map(|least| Some(u64::try_from(least).unwrap_or(0)))
    }
}

const ACCEPT: Answer = Answer::Decision(None);
const REFUSE: Answer = Answer::Decision(Some((Action::Drop, Reason::Early)));
