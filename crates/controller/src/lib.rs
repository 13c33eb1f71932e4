//! Component configuration, clock, and the process around webhooks and controllers: health, readiness, metrics, log, shutdown.
