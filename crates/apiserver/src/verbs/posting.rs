//! Subresources of typed kinds that answer what is posted to them, and store nothing.

use crate::call::Call;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::decode;
use crate::render;
use crate::state::ServerState;
use crate::typed;

use super::transient;

/// Admits the body and answers it.
pub(super) async fn answer(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let Some(posted) = typed::posted(call) else { return Err(Status::method_not_allowed()) };
    let mut notes = Notes::default();
    decode::check_media_type(call)?;
    let mut body = decode::object(shared, call, &mut notes)?;
    (posted.default)(&mut body);
    let (body, notes) = transient::admit(shared, call, (body, notes), |_| Ok(())).await?;
    let answering = typed::prepare_answer(shared, call, posted, body);
    let answering = answering.map_err(|status| status.with_notes(&notes))?;
    let answered = tokio::task::spawn_blocking(answering).await;
    let answered = answered.map_err(|error| Status::internal(&error.to_string()))?;
    let body = answered.map_err(|rejection| typed::answer_status(call, rejection).with_notes(&notes))?;
    Ok(Reply { notes, ..Reply::json(201, render::encode(&body, call.accept.yaml)) })
}
