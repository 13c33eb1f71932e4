//! Serves an API server until the process ends, and writes a kubeconfig: `serve <file>`.

use std::sync::Arc;

use apiserver::ApiServer;
use jiff::Timestamp;
use schema::crds;
use webhook::dial::FixedDialers;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: serve <kubeconfig file>")?;
    let builder = ApiServer::builder().crds(crds().iter().cloned()).epoch(Timestamp::now());
    let server = builder.dialers(Arc::new(FixedDialers::new())).build();
    let listener = server.serve(([127, 0, 0, 1], 0).into()).await?;
    std::fs::write(file, listener.kubeconfig())?;
    std::future::pending::<()>().await;
    listener.shutdown().await;
    Ok(())
}
