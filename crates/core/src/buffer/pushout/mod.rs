//! Push-out: when the buffer is full, which queued units give way to an arriving one.
//!
//! No policy is registered yet; a port without one lets its admission policy refuse what does not fit.
