-- Creates the roles and the database of docs/production.md.
CREATE ROLE compliance_owner LOGIN NOSUPERUSER PASSWORD 'owner';
CREATE ROLE compliance_api LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD 'api';
CREATE ROLE compliance_console LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD 'console';
CREATE DATABASE compliance OWNER compliance_owner ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
