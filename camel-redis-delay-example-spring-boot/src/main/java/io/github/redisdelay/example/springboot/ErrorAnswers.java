// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import java.time.Duration;
import java.util.stream.Collectors;
import org.apache.camel.CamelExecutionException;
import org.redisson.client.RedisException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/**
 * The answers to requests that fail, as RFC 9457 has them, each with its reason: 400 for what is wrong in the request,
 * 409 for an id that is in use, 503 where Redis cannot be reached.
 */
@RestControllerAdvice
class ErrorAnswers extends ResponseEntityExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(ErrorAnswers.class);

    @Override
    protected ResponseEntity<Object> handleMethodArgumentNotValid(
            MethodArgumentNotValidException wrong, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        wrong.getBody()
                .setDetail(wrong.getFieldErrors().stream()
                        .map(field -> field.getField() + " " + field.getDefaultMessage())
                        .sorted()
                        .collect(Collectors.joining(", ")));
        return super.handleMethodArgumentNotValid(wrong, headers, status, request);
    }

    @Override
    protected ResponseEntity<Object> handleHttpMessageNotReadable(
            HttpMessageNotReadableException wrong, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        ProblemDetail answer = ProblemDetail.forStatusAndDetail(status, reason(wrong.getCause()));
        return handleExceptionInternal(wrong, answer, headers, status, request);
    }

    @ExceptionHandler(OrderExistsException.class)
    ProblemDetail exists(OrderExistsException conflict) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, conflict.getMessage());
    }

    /** A message that the component has not taken. */
    @ExceptionHandler(CamelExecutionException.class)
    ProblemDetail refused(CamelExecutionException failure) {
        Throwable cause = failure.getCause();
        if (cause instanceof DuplicateMessageException duplicate) {
            return exists(new OrderExistsException(duplicate.getMessageId()));
        }
        if (cause instanceof IllegalArgumentException) {
            return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, cause.getMessage());
        }
        return unavailable(cause);
    }

    /** The order book without Redis. The reason is for the log: it names servers. */
    @ExceptionHandler(RedisException.class)
    ProblemDetail unavailable(Throwable failure) {
        LOG.warn("request failed: {}", failure.toString());
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.SERVICE_UNAVAILABLE, "not possible now, send the same request again");
    }

    private static String reason(Throwable wrong) {
        if (wrong instanceof InvalidFormatException value) {
            return value.getPath().get(0).getFieldName() + " '" + value.getValue() + "' is not "
                    + (value.getTargetType() == Duration.class ? "a duration such as PT30M" : "a number");
        }
        return wrong instanceof JsonProcessingException json
                ? "the body is not the JSON of an order: " + json.getOriginalMessage()
                : "there is no body, it should be the JSON of an order";
    }
}
