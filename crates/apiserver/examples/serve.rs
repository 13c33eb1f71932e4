//! Serves an API server until the process ends, and writes a kubeconfig: `serve <file>`.

use apiserver::ApiServer;
use schema::crds;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: serve <kubeconfig file>")?;
    let server = ApiServer::builder().crds(crds().iter().cloned()).build();
    let door = server.serve(([127, 0, 0, 1], 0).into()).await?;
    std::fs::write(file, door.kubeconfig())?;
    std::future::pending::<()>().await;
    door.shutdown().await;
    Ok(())
}
