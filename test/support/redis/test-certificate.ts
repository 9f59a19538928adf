/** The certificate that servers of tests have: for 127.0.0.1, vouched for by itself. */
export { TEST_CERTIFICATE, TEST_KEY } from '../../../src/fetch/test-support/certificates.ts'
