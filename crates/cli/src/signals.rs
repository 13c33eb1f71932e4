//! Signals that end a run early.

/// Number of SIGINT.
pub(crate) const INTERRUPT: u8 = 2;
/// Number of SIGTERM.
pub(crate) const TERMINATE: u8 = 15;

/// Waits for SIGINT or SIGTERM and returns its number; never returns if handlers cannot be installed.
pub(crate) async fn interrupt_or_terminate() -> u8 {
    tokio::select! {
        signal = interrupt() => signal,
        signal = terminate() => signal,
    }
}

async fn interrupt() -> u8 {
    match tokio::signal::ctrl_c().await {
        Ok(()) => INTERRUPT,
        Err(_) => std::future::pending().await,
    }
}

#[cfg(unix)]
async fn terminate() -> u8 {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signals) => {
            signals.recv().await;
            TERMINATE
        }
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminate() -> u8 {
    std::future::pending().await
}
