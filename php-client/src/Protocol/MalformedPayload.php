<?php

declare(strict_types=1);

namespace Cetane\Protocol;

/** A payload does not fit its layout. {@see FrameReader} makes a {@see ProtocolViolation} of it, which says where. */
final class MalformedPayload extends \RuntimeException
{
}
