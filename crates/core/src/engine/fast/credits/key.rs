//! When something happens, as a place in the order of [`crate::kernel`].

use crate::units::Time;

/// The place of something in the order of events: that of the event with which it happens.
pub(super) type Key = u128;

/// Later than anything.
pub(super) const NEVER: Key = Key::MAX;

/// The first place of all that happens at an instant.
#[inline]
pub(super) fn beginning(time: Time) -> Key {
    Key::from(time.0) << u64::BITS
}

/// The instant of a place.
#[inline]
pub(super) fn time_of(key: Key) -> Time {
    Time((key >> u64::BITS) as u64)
}
