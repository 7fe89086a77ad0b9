"""One authority for a site, and the certificates that it issues."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

_DAYS = 30


class Authority:
    """Issues certificates into a folder: `<name>.crt` and `<name>.key`, PEM."""

    def __init__(self, folder: Path) -> None:
        from cryptography import x509

        self._x509 = x509
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._key = self._new_key("ca")
        self._name = self._subject("test-ca", None)
        builder = self._builder(self._name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self._write("ca", builder)

    @classmethod
    def of(cls, folder: Path) -> Authority:
        """The authority that was made in this folder before."""
        from cryptography import x509
        from cryptography.hazmat.primitives import serialization

        self = cls.__new__(cls)
        self._x509, self.folder = x509, folder
        self._key = serialization.load_pem_private_key((folder / "ca.key").read_bytes(), None)
        self._name = x509.load_pem_x509_certificate((folder / "ca.crt").read_bytes()).subject
        return self

    @property
    def certificate(self) -> Path:
        return self.folder / "ca.crt"

    def issue(
        self,
        name: str,
        common_name: str,
        *,
        group: str | None = None,
        hosts: tuple[str, ...] = (),
    ) -> tuple[Path, Path]:
        """(certificate, key) for a user of a group, or for a server reached by `hosts`."""
        key = self._new_key(name)
        subject = self._subject(common_name, group)
        builder = self._builder(subject, key.public_key())
        if hosts:
            names = [self._alternative(host) for host in hosts]
            builder = builder.add_extension(self._x509.SubjectAlternativeName(names), False)
        self._write(name, builder)
        return self.folder / f"{name}.crt", self.folder / f"{name}.key"

    def _alternative(self, host: str):
        try:
            return self._x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            return self._x509.DNSName(host)

    def _new_key(self, name: str):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        text = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        path = self.folder / f"{name}.key"
        path.touch(mode=0o600)
        path.write_bytes(text)
        return key

    def _subject(self, common_name: str, group: str | None):
        from cryptography.x509.oid import NameOID

        parts = [self._x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
        if group is not None:
            parts.append(self._x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
        return self._x509.Name(parts)

    def _builder(self, subject, public_key):
        now = datetime.datetime.now(datetime.UTC)
        return (
            self._x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(self._x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(days=_DAYS))
        )

    def _write(self, name: str, builder) -> None:
        from cryptography.hazmat.primitives import hashes, serialization

        certificate = builder.sign(self._key, hashes.SHA256())
        path = self.folder / f"{name}.crt"
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
