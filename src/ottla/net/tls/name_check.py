"""Says whom a certificate is for and how long it is good, where OpenSSL only says that it is not for us, or not now."""

import datetime
import ssl
from typing import Final

from ottla.net.tls.certificate import Certificate, CertificateError, read_certificate

_MISMATCHES: Final = (62, 64)
"""X509_V_ERR_HOSTNAME_MISMATCH, and the one of addresses."""
_DATES: Final = {9: "begin", 10: "end"}
"""X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED."""
_SHOWN_MAX: Final = 5


class NamingObject(ssl.SSLObject):
    """The client's side of TLS in an event loop, whose errors about names and dates have them."""

    def do_handshake(self) -> None:
        """Shakes hands."""
        try:
            super().do_handshake()
        except ssl.SSLCertVerificationError as error:
            if error.verify_code in _MISMATCHES or error.verify_code in _DATES:
                chain = getattr(getattr(self, "_sslobj", None), "get_unverified_chain", lambda: None)()
                if chain:
                    _explain(error, ssl.PEM_cert_to_DER_cert(chain[0].public_bytes()))
            raise


def _explain(error: ssl.SSLCertVerificationError, der: bytes) -> None:
    try:
        certificate = read_certificate(der)
    except CertificateError:
        return
    if error.verify_code in _DATES:
        _add_dates(error, certificate)
        return
    names = sorted(certificate.other_names)
    if names:
        more = f" and {len(names) - _SHOWN_MAX} more" if len(names) > _SHOWN_MAX else ""
        text = f"Name mismatch: the certificate is for {', '.join(names[:_SHOWN_MAX])}{more}"
    else:
        text = (
            f"Name mismatch: the certificate has no subject alternative name (SAN), only the subject "
            f"{certificate.subject}; give it one for each name that is dialled, or set an empty "
            "ssl.endpoint.identification.algorithm where it is dialled"
        )
    error.verify_message = error.strerror = text


def _add_dates(error: ssl.SSLCertVerificationError, certificate: Certificate) -> None:
    """Names the dates of the broker's own certificate; it may be that of an authority that is meant."""
    begin, end = certificate.begin, certificate.end
    if not begin <= datetime.datetime.now(datetime.UTC) <= end:
        dates = f"{certificate.subject} is good from {begin:%Y-%m-%d} to {end:%Y-%m-%d}"
        error.verify_message = error.strerror = f"{error.verify_message} ({dates})"
