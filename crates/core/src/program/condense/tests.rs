//! Random programs have equal results as they are checked and as they are condensed.

use super::*;
use crate::program::Asks;
use crate::program::arithmetic::{one, real, whole};
use crate::program::check::{ProgramNames, check_functions};
use crate::program::code::{Answer, Attribute, Binary, OfQueue, REGISTERS, Scope, Type, Unary, Word};
use crate::program::hook::Hook;
use crate::program::run::{Machine, Outcome, View};
use crate::program::source::Texts;
use crate::program::values::Known;
use crate::rng::{Draws, Keyed, Subject};
use crate::units::ids::QueueId;
use crate::verdict::{Action, Reason};
use proptest::prelude::*;

const QUEUES: usize = 3;

/// Variables of each owner; those of queues are read by the number of the queue.
const VARIABLES: usize = 2;

/// Registers of integers, of floats and of bools.
const INTS: [u8; 4] = [0, 1, 2, 3];
const FLOATS: [u8; 3] = [4, 5, 6];
const BOOLS: [u8; 3] = [7, 8, 9];

/// The queues that a program can choose.
const CHOICES: [QueueId; 2] = [QueueId(0), QueueId(2)];

/// A port with a few values.
struct Bench;

impl View for Bench {
    fn look(&self, attribute: Attribute) -> Word {
        match attribute.kind() {
            Type::Int => Word::int(attribute as i64 % 3),
            Type::Float => Word::float(attribute as i64 as f64 / 4.0),
            Type::Bool => Word::bool((attribute as u8).is_multiple_of(2)),
        }
    }

    fn queues(&self) -> usize {
        QUEUES
    }

    fn choice_from(&self, number: usize) -> Option<QueueId> {
        CHOICES.into_iter().find(|queue| queue.index() >= number)
    }

    fn look_at(&self, property: OfQueue, queue: QueueId) -> Word {
        match property.kind() {
            Type::Float => Word::float(queue.0.into()),
            _ => Word::int(queue.0.into()),
        }
    }
}

/// All that a run may change, and its end; the instruction and the values of a failure are in its text.
#[derive(Debug, PartialEq)]
struct After {
    end: Result<Outcome, (usize, String)>,
    state: [Vec<Word>; 2],
    drawn: u64,
}

/// Variables of the port and of all queues before a run.
fn state() -> [Vec<Word>; 2] {
    // The first variable of an owner is an integer, the second a float.
    let variables = [Word::int(1), Word::float(0.5)];
    [variables.to_vec(), variables.repeat(QUEUES)]
}

fn bench() -> (Bench, Draws) {
    (Bench, Keyed::new(1, "program").about(Subject::unit(1, 2, 3)))
}

/// Run the condensed program.
fn condensed_run(ops: &[Op]) -> After {
    let ((view, mut draws), [mut port, mut queues]) = (bench(), state());
    let mut machine =
        Machine { state: [&mut port, &mut [], &mut queues], each: VARIABLES, ranks: None, draws: &mut draws };
    let end = machine.run(&mut condensed(ops.to_vec()), &view);
    let end = end.map_err(|failed| (failed.instruction, failed.why));
    After { end, state: [port, queues], drawn: draws.next_u64() }
}

/// Run the checked program one instruction after the other.
fn plain_run(ops: &[Op]) -> After {
    let ((view, mut draws), [mut port, mut queues]) = (bench(), state());
    let mut registers = [Word::default(); REGISTERS];
    let mut next = 0;
    let end = loop {
        let (index, at) = (next, |register: Reg| registers[register.index()]);
        let queue =
            |register: Reg| usize::try_from(at(register).as_int()).ok().filter(|&queue| queue < QUEUES);
        let no_queue = |register: Reg| {
            (index, format!("there is no such queue: the number of {}", at(register).as_int()))
        };
        next += 1;
        let failed = |why: &str, kind: Type, values: &[Word]| {
            let values: Vec<String> = values.iter().map(|value| value.shown(kind)).collect();
            (index, format!("{why} of {}", values.join(" and ")))
        };
        match ops[index] {
            Op::Set { to, value } => {
                let word = match value {
                    Operand::Constant(word) => Ok(word),
                    Operand::Attribute(attribute) => Ok(view.look(attribute)),
                    Operand::State { place, .. } => Ok(port[usize::from(place)]),
                    Operand::Register(from) => Ok(at(from)),
                    Operand::Draw => Ok(Word::float(draws.unit())),
                    Operand::Property { property, queue: register } => match queue(register) {
                        Some(queue) => Ok(view.look_at(property, QueueId::new(queue))),
                        None => Err(no_queue(register)),
                    },
                    Operand::StateAt { place, queue: register } => match queue(register) {
                        Some(queue) => Ok(queues[queue * VARIABLES + usize::from(place)]),
                        None => Err(no_queue(register)),
                    },
                    Operand::NextBacklogged { after } => {
                        let behind = CHOICES.iter().find(|queue| i64::from(queue.0) > at(after).as_int());
                        Ok(Word::int(behind.unwrap_or(&CHOICES[0]).0.into()))
                    }
                    Operand::Least { place, .. } => {
                        let value =
                            |queue: &QueueId| queues[queue.index() * VARIABLES + usize::from(place)].as_int();
                        Ok(Word::int(CHOICES.iter().min_by_key(|queue| value(queue)).unwrap().0.into()))
                    }
                    Operand::Longest => Ok(Word::int(2)),
                    Operand::Unary { function, kind, of } => {
                        one(function, kind, at(of)).map_err(|why| failed(why, kind, &[at(of)]))
                    }
                    Operand::Whole { operator, left, right } => {
                        whole(operator, at(left).as_int(), at(right).as_int())
                            .map_err(|why| failed(why, Type::Int, &[at(left), at(right)]))
                    }
                    Operand::Real { operator, left, right } => {
                        real(operator, at(left).as_float(), at(right).as_float())
                            .map_err(|why| failed(why, Type::Float, &[at(left), at(right)]))
                    }
                };
                match word {
                    Ok(word) => registers[to.index()] = word,
                    Err(failed) => break Err(failed),
                }
            }
            Op::Store { place, from, .. } => port[usize::from(place)] = at(from),
            Op::StoreAt { place, queue: register, from } => match queue(register) {
                Some(queue) => queues[queue * VARIABLES + usize::from(place)] = at(from),
                None => break Err(no_queue(register)),
            },
            Op::Jump { target } => next = target.into(),
            Op::Branch { condition: Condition::Register(register), when, target } => {
                if at(register).as_bool() == when {
                    next = target.into();
                }
            }
            Op::Branch { .. } => unreachable!("a checked program tests registers"),
            Op::Answer(Answer::Decision(decision)) => break Ok(Outcome::Decision(decision)),
            Op::Answer(Answer::End) => break Ok(Outcome::End),
            Op::Answer(Answer::Queue(register)) => break Ok(Outcome::Queue(at(register).as_int())),
        }
    };
    After { end, state: [port, queues], drawn: draws.next_u64() }
}

fn register(of: &'static [u8]) -> impl Strategy<Value = Reg> + Clone {
    prop::sample::select(of).prop_map(Reg)
}

/// An assignment whose type is that of its register.
fn set() -> impl Strategy<Value = Op> {
    let (int, float, bool) = (|| register(&INTS), || register(&FLOATS), || register(&BOOLS));
    let operators = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Div,
        Binary::FloorDiv,
        Binary::Mod,
        Binary::Min,
        Binary::Max,
    ];
    let comparisons = [Binary::Lt, Binary::Le, Binary::Gt, Binary::Ge, Binary::Eq, Binary::Ne];
    let (operator, comparison) =
        (prop::sample::select(operators.to_vec()), prop::sample::select(comparisons.to_vec()));
    let (operator, comparison) = (operator.boxed(), comparison.boxed());
    let ints = prop_oneof![
        prop::sample::select(&[0, 1, 2, -1, i64::MAX][..])
            .prop_map(|value| Operand::Constant(Word::int(value))),
        prop::sample::select(&[Attribute::Total, Attribute::Own][..]).prop_map(Operand::Attribute),
        Just(Operand::State { scope: Scope::Port, place: 0 }),
        int().prop_map(Operand::Register),
        int().prop_map(|queue| Operand::Property { property: OfQueue::Length, queue }),
        int().prop_map(|queue| Operand::StateAt { place: 0, queue }),
        int().prop_map(|after| Operand::NextBacklogged { after }),
        Just(Operand::Least { place: 0, kind: Type::Int }),
        Just(Operand::Longest),
        int().prop_map(|of| Operand::Unary { function: Unary::Neg, kind: Type::Int, of }),
        float().prop_map(|of| Operand::Unary { function: Unary::Int, kind: Type::Float, of }),
        (operator.clone(), int(), int()).prop_map(|(operator, left, right)| Operand::Whole {
            operator,
            left,
            right
        }),
    ];
    let floats = prop_oneof![
        prop::sample::select(&[0.0, -0.0, 0.5, -2.0, 1e300][..])
            .prop_map(|value| Operand::Constant(Word::float(value))),
        Just(Operand::Attribute(Attribute::Now)),
        Just(Operand::State { scope: Scope::Port, place: 1 }),
        float().prop_map(Operand::Register),
        Just(Operand::Draw),
        int().prop_map(|queue| Operand::StateAt { place: 1, queue }),
        int().prop_map(|of| Operand::Unary { function: Unary::Float, kind: Type::Int, of }),
        float().prop_map(|of| Operand::Unary { function: Unary::Sqrt, kind: Type::Float, of }),
        (operator, float(), float()).prop_map(|(operator, left, right)| Operand::Real {
            operator,
            left,
            right
        }),
    ];
    let bools = prop_oneof![
        any::<bool>().prop_map(|value| Operand::Constant(Word::bool(value))),
        Just(Operand::Attribute(Attribute::Fits)),
        bool().prop_map(Operand::Register),
        bool().prop_map(|of| Operand::Unary { function: Unary::Not, kind: Type::Bool, of }),
        (comparison.clone(), int(), int()).prop_map(|(operator, left, right)| Operand::Whole {
            operator,
            left,
            right
        }),
        (comparison, float(), float()).prop_map(|(operator, left, right)| Operand::Real {
            operator,
            left,
            right
        }),
    ];
    prop_oneof![
        (int(), ints).prop_map(|(to, value)| Op::Set { to, value }),
        (float(), floats).prop_map(|(to, value)| Op::Set { to, value }),
        (bool(), bools).prop_map(|(to, value)| Op::Set { to, value }),
    ]
}

/// An instruction that comes before the last one; the target of a jump counts from the instruction behind it.
fn instruction() -> impl Strategy<Value = Op> {
    let (int, float, bool) = (|| register(&INTS), || register(&FLOATS), || register(&BOOLS));
    prop_oneof![
        8 => set(),
        1 => int().prop_map(|from| Op::Store { scope: Scope::Port, place: 0, from }),
        1 => float().prop_map(|from| Op::Store { scope: Scope::Port, place: 1, from }),
        1 => (int(), int()).prop_map(|(queue, from)| Op::StoreAt { place: 0, queue, from }),
        1 => (0u16..6).prop_map(|target| Op::Jump { target }),
        4 => (bool(), any::<bool>(), 0u16..6).prop_map(|(register, when, target)| {
            Op::Branch { condition: Condition::Register(register), when, target }
        }),
        1 => int().prop_map(|queue| Op::Answer(Answer::Queue(queue))),
        1 => Just(Op::Answer(Answer::Decision(Some((Action::Drop, Reason::Early))))),
    ]
}

/// A program that assigns every register before anything else.
fn program() -> impl Strategy<Value = Vec<Op>> {
    let instructions = prop::collection::vec(instruction(), 0..60);
    (instructions, prop::collection::vec(any::<bool>(), 10), 10u8..=255).prop_map(
        |(instructions, kinds, last)| {
            let first = |(register, from_state): (u8, bool)| {
                let value = match (register, from_state) {
                    (0..4, true) => Operand::State { scope: Scope::Port, place: 0 },
                    (0..4, false) => Operand::Constant(Word::int(register.into())),
                    (4..7, true) => Operand::Attribute(Attribute::Now),
                    (4..7, false) => Operand::Constant(Word::float(register.into())),
                    (_, true) => Operand::Attribute(Attribute::Fits),
                    (_, false) => Operand::Constant(Word::bool(register == 8)),
                };
                Op::Set { to: Reg(register), value }
            };
            let mut ops: Vec<Op> = (0..10).zip(kinds).map(first).collect();
            // The registers from the last one on are left for constants.
            ops.push(Op::Set { to: Reg(last), value: Operand::Constant(Word::int(7)) });
            let end = (ops.len() + instructions.len()) as u16;
            for mut op in instructions {
                let next = ops.len() as u16 + 1;
                if let Op::Jump { target } | Op::Branch { target, .. } = &mut op {
                    *target = (next + *target).min(end);
                }
                ops.push(op);
            }
            ops.push(Op::Answer(Answer::Decision(None)));
            ops
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_condensed_program_does_what_its_instructions_do(ops in program()) {
        prop_assert_eq!(condensed_run(&ops), plain_run(&ops));
    }
}

/// The steps of instructions of an admission policy.
fn steps_of(code: &[&str]) -> Steps {
    let known = |name: &str, kind, word| Known { name: name.to_string(), kind, word };
    let params = [known("threshold", Type::Int, Word::int(40))];
    let names = ProgramNames { params: &params, state: &[], per_vc: &[], per_queue: &[] };
    let code = [["r9 = params.threshold"].as_slice(), code].concat();
    let codes = vec![(Hook::Arrival(Asks::Frame), code.iter().map(ToString::to_string).collect())];
    let programs = check_functions(&Texts::new("program", codes, None).unwrap(), &names);
    programs.unwrap().remove(0).steps
}

#[test]
fn a_comparison_of_the_occupancy_with_a_constant_is_a_threshold() {
    let cases = [
        ("r2 = r0 >= r9", ["refuse early", "accept"], Some(40)),
        ("r2 = r0 > r9", ["refuse early", "accept"], Some(41)),
        ("r2 = r0 < r9", ["accept", "refuse early"], Some(40)),
        ("r2 = r0 <= r9", ["accept", "refuse early"], Some(41)),
        ("r2 = r9 > r0", ["accept", "refuse early"], Some(40)),
        ("r2 = r9 <= r0", ["refuse early", "accept"], Some(40)),
    ];
    for (comparison, [then, otherwise], threshold) in cases {
        let steps = steps_of(&["r0 = x.total", comparison, "unless r2 jump 5", then, otherwise]);
        assert_eq!(steps.threshold(), Some(threshold), "{comparison}, {then}");
    }
    assert_eq!(steps_of(&["accept"]).threshold(), Some(None));
    assert!(steps_of(&["accept"]).accepts_all());
}

#[test]
fn what_is_no_threshold_is_not_taken_for_one() {
    let cases = [
        ["r0 = x.total", "r2 = r0 >= r9", "unless r2 jump 5", "refuse random", "accept"],
        ["r0 = x.total", "r2 = r0 >= r9", "unless r2 jump 5", "mark early", "accept"],
        ["r0 = x.total", "r2 = r0 >= r9", "unless r2 jump 5", "accept", "refuse early"],
        ["r0 = x.total", "r2 = r0 == r9", "unless r2 jump 5", "refuse early", "accept"],
        ["r0 = x.own", "r2 = r0 >= r9", "unless r2 jump 5", "refuse early", "accept"],
        ["r0 = x.total", "r2 = r0 >= r0", "unless r2 jump 5", "refuse early", "accept"],
    ];
    for code in cases {
        assert_eq!(steps_of(&code).threshold(), None, "{code:?}");
    }
    assert_eq!(steps_of(&["refuse early"]).threshold(), None);
}

#[test]
fn a_condensed_program_has_few_steps() {
    // A constant, its conversion, two copies, a comparison and the jump are one step beside the attribute.
    let code = [
        "r1 = 0.5",
        "r2 = float r9",
        "r1 = r1 * r2",
        "r3 = x.now",
        "r4 = r3",
        "r5 = r4 < r1",
        "r6 = not r5",
        "unless r6 jump 10",
        "refuse",
        "accept",
    ];
    assert_eq!(steps_of(&code).steps.len(), 4);
    // What is known of a condition where its jump ends makes the second jump superfluous.
    let twice =
        ["r0 = x.clp", "r1 = false", "unless r0 jump 5", "r1 = true", "unless r1 jump 7", "refuse", "accept"];
    assert_eq!(steps_of(&twice).steps.len(), 4);
}
