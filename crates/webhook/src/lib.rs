//! AdmissionReview in, pure function, JSON patch out; registrations, HTTPS server, certificate reload.
