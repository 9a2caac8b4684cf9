/**
 * The closed set of words for errors: classes and codes that Node, undici and the MCP SDKs are known to use. The name or the code of
 * any other error is the host's own text and may hold a secret: it is `other`.
 */
import { constants } from 'node:os';

const words = (...lists: readonly string[]): string[] => lists.flatMap((list) => list.split(' '));

const KNOWN: ReadonlySet<unknown> = new Set([
  // The language, the web platform.
  ...words('Error TypeError RangeError SyntaxError ReferenceError URIError EvalError AggregateError DOMException'),
  ...words(
    'AbortError TimeoutError NetworkError DataCloneError InvalidStateError NotSupportedError QuotaExceededError',
  ),
  // Operating system and resolver.
  ...Object.keys(constants.errno),
  ...words('EAI_AGAIN EAI_FAIL EAI_NODATA EAI_NONAME ENOTFOUND ENODATA ESERVFAIL EREFUSED ENONAME EPROTO'),
  // Node.
  ...words(
    'ABORT_ERR ERR_INVALID_URL ERR_INVALID_ARG_TYPE ERR_INVALID_ARG_VALUE ERR_INVALID_STATE ERR_INVALID_PROTOCOL',
  ),
  ...words('ERR_STREAM_PREMATURE_CLOSE ERR_STREAM_DESTROYED ERR_STREAM_WRITE_AFTER_END ERR_OPERATION_FAILED'),
  ...words('ERR_SOCKET_CLOSED ERR_SOCKET_CONNECTION_TIMEOUT ERR_UNHANDLED_ERROR ERR_INTERNAL_ASSERTION'),
  ...words('ERR_HTTP2_ERROR ERR_HTTP2_STREAM_ERROR ERR_HTTP2_SESSION_ERROR ERR_HTTP2_STREAM_CANCEL'),
  ...words('ERR_HTTP2_GOAWAY_SESSION ERR_HTTP2_INVALID_SESSION ERR_TLS_CERT_ALTNAME_INVALID ERR_TLS_HANDSHAKE_TIMEOUT'),
  ...words('ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'),
  ...words('ERR_SSL_PACKET_LENGTH_TOO_LONG ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED EPROTO'),
  ...words('CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REVOKED CERT_UNTRUSTED CERT_REJECTED CERT_SIGNATURE_FAILURE'),
  ...words('DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE INVALID_CA'),
  ...words('UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY HOSTNAME_MISMATCH'),
  ...words('Z_DATA_ERROR Z_BUF_ERROR Z_MEM_ERROR Z_NEED_DICT Z_STREAM_ERROR'),
  // The HTTP parser of undici and Node.
  ...words(
    'HPE_INTERNAL HPE_STRICT HPE_LF_EXPECTED HPE_CR_EXPECTED HPE_UNEXPECTED_CONTENT_LENGTH HPE_UNEXPECTED_SPACE',
  ),
  ...words('HPE_CLOSED_CONNECTION HPE_INVALID_METHOD HPE_INVALID_URL HPE_INVALID_CONSTANT HPE_INVALID_VERSION'),
  ...words('HPE_INVALID_HEADER_TOKEN HPE_INVALID_CONTENT_LENGTH HPE_INVALID_CHUNK_SIZE HPE_INVALID_STATUS'),
  ...words('HPE_INVALID_EOF_STATE HPE_INVALID_TRANSFER_ENCODING HPE_HEADER_OVERFLOW HPE_CHUNK_EXTENSIONS_OVERFLOW'),
  ...words('HTTPParserError'),
  // undici.
  ...words('UND_ERR UND_ERR_ABORT UND_ERR_ABORTED UND_ERR_BODY_TIMEOUT UND_ERR_BPL_MISSING_UPSTREAM UND_ERR_CLOSED'),
  ...words('UND_ERR_CONNECT_TIMEOUT UND_ERR_DESTROYED UND_ERR_HEADERS_OVERFLOW UND_ERR_HEADERS_TIMEOUT UND_ERR_INFO'),
  ...words('UND_ERR_INVALID_ARG UND_ERR_INVALID_RETURN_VALUE UND_ERR_MAX_ORIGINS_REACHED UND_ERR_NOT_SUPPORTED'),
  ...words('UND_ERR_PRX_TLS UND_ERR_REQ_CONTENT_LENGTH_MISMATCH UND_ERR_REQ_RETRY UND_ERR_RESPONSE UND_ERR_SOCKET'),
  ...words(
    'UND_ERR_RES_CONTENT_LENGTH_MISMATCH UND_ERR_RES_EXCEEDED_MAX_SIZE UND_ERR_SOCKS5 UND_ERR_RESPONSE_STATUS_CODE',
  ),
  ...words('ConnectTimeoutError HeadersTimeoutError BodyTimeoutError SocketError InformationalError ResponseError'),
  ...words('RequestAbortedError ClientDestroyedError ClientClosedError RequestRetryError'),
  // The SDKs: classes, then codes.
  ...words('McpError ProtocolError SdkError SdkHttpError SseError StreamableHTTPError UnauthorizedError OAuthError'),
  ...words('UrlElicitationRequiredError UnsupportedProtocolVersionError MissingRequiredClientCapabilityError'),
  ...words(
    'ResourceNotFoundError ServerError InvalidRequestError InvalidClientError InvalidGrantError InvalidScopeError',
  ),
  ...words(
    'UnauthorizedClientError UnsupportedGrantTypeError InvalidTokenError InsufficientScopeError AccessDeniedError',
  ),
  ...words('OAuthClientFlowError IssuerMismatchError AuthorizationServerMismatchError InsecureTokenEndpointError'),
  ...words(
    'RegistrationRejectedError InvalidClientMetadataError InvalidTargetError CustomOAuthError ZodError $ZodError',
  ),
  ...words(
    'NOT_CONNECTED ALREADY_CONNECTED NOT_INITIALIZED CAPABILITY_NOT_SUPPORTED REQUEST_TIMEOUT CONNECTION_CLOSED',
  ),
  ...words('SEND_FAILED INVALID_RESULT UNSUPPORTED_RESULT_TYPE ERA_NEGOTIATION_FAILED INPUT_REQUIRED_ROUNDS_EXCEEDED'),
  ...words('LIST_PAGINATION_EXCEEDED METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION CLIENT_HTTP_NOT_IMPLEMENTED'),
  ...words('CLIENT_HTTP_AUTHENTICATION CLIENT_HTTP_FORBIDDEN CLIENT_HTTP_UNEXPECTED_CONTENT'),
  ...words('CLIENT_HTTP_FAILED_TO_OPEN_STREAM CLIENT_HTTP_FAILED_TO_TERMINATE_SESSION'),
]);

/** The first of some names and codes that is known; else `other`. */
export const knownWord = (...candidates: readonly unknown[]): string =>
  (candidates.find((each) => KNOWN.has(each)) as string | undefined) ?? 'other';
