//! The environment itself: the embedded API server over TLS, until it is told to end.

use std::net::{Ipv4Addr, SocketAddr};

use apiserver::ApiServer;

use super::state::State;
use crate::terminal::{Failure, Terminal};

/// Serves until SIGINT or SIGTERM, then forgets the environment.
pub(crate) fn until_interrupted(state: &State, terminal: &Terminal) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    runtime.block_on(serve(state, terminal))
}

async fn serve(state: &State, terminal: &Terminal) -> Result<u8, Failure> {
    let dialers = std::sync::Arc::new(webhook::dial::FixedDialers::new());
    let server = ApiServer::builder().crds(schema::crds().iter().cloned()).dialers(dialers).build();
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let front = server.serve(loopback).await.map_err(|error| Failure::from(anyhow::Error::from(error)))?;
    let address = front.url.trim_start_matches("https://").parse();
    let address: SocketAddr =
        address.map_err(|_| Failure::environment(format!("no address in {}", front.url)))?;
    state.write(&front.kubeconfig(), address)?;
    terminal.print(&state.kubeconfig().display().to_string());
    let signal = crate::signals::either().await;
    front.shutdown().await;
    state.clear()?;
    Ok(if signal == crate::signals::TERMINATE { 0 } else { 128 + signal })
}
