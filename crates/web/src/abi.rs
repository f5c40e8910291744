//! Three functions of the C ABI.
//!
//! A page asks for room with `pushout_input`, writes a request there as UTF-8, calls `pushout_answer`, and reads the answer
//! at `pushout_output`. No function takes a pointer, so none can be wrong; a length is that of room that was asked for.
//! The attribute that exports a name counts as unsafe code, for two libraries could export the same one.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::request::OpenRuns;

#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    runs: OpenRuns,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Reserve room for a request of `length` octets; returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn pushout_input(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        state.input.resize(length, 0);
        state.input.as_mut_ptr()
    })
}

/// Answer the request in that room; returns the octets of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn pushout_answer() -> usize {
    STATE.with_borrow_mut(|state| {
        let text = String::from_utf8_lossy(&state.input);
        state.output = state.runs.answer(&text).into_bytes();
        state.output.len()
    })
}

/// Return the address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn pushout_output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_answered_in_place() {
        let request = br#"{"do":"nothing of the kind"}"#;
        assert!(!pushout_input(request.len()).is_null());
        STATE.with_borrow_mut(|state| state.input.copy_from_slice(request));
        let length = pushout_answer();
        assert!(!pushout_output().is_null());
        STATE.with_borrow(|state| {
            assert_eq!(state.output.len(), length);
            let text = String::from_utf8(state.output.clone()).unwrap();
            assert!(text.starts_with(r#"{"error":"unknown request"#), "{text}");
        });
    }

    #[test]
    fn a_request_that_was_never_written_is_refused() {
        pushout_input(8);
        pushout_answer();
        STATE.with_borrow(|state| assert!(state.output.starts_with(br#"{"error":"#)));
    }
}
