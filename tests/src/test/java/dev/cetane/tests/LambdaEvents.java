package dev.cetane.tests;

/** Events as AWS's documentation shows them, written for these tests. */
final class LambdaEvents {
    private LambdaEvents() {}

    /** An HTTP API, payload version 2.0. {@code more} are further members, each followed by a comma. */
    static String httpApi(String method, String path, String query, String more) {
        return """
                {"version":"2.0","routeKey":"$default","rawPath":"%s","rawQueryString":"%s",%s
                 "requestContext":{"accountId":"123456789012","apiId":"api1","domainName":"api1.execute-api.eu-west-1.amazonaws.com",
                  "domainPrefix":"api1","http":{"method":"%s","path":"%s","protocol":"HTTP/1.1","sourceIp":"203.0.113.7","userAgent":"test/1"},
                  "requestId":"id=","routeKey":"$default","stage":"$default","time":"12/Mar/2020:19:03:58 +0000","timeEpoch":1583348638390},
                 "isBase64Encoded":%s}""".formatted(path, query, more, method, path, more.contains("\"base64\"") ? "true" : "false");
    }

    static String httpApi(String path, String query) {
        return httpApi(
                "GET",
                path,
                query,
                "\"headers\":{\"host\":\"shop.test\",\"x-forwarded-proto\":\"https\",\"x-forwarded-port\":\"443\"},");
    }

    /** A REST API, payload version 1.0. {@code more} are further members, each followed by a comma. */
    static String rest(String method, String path, String more) {
        return """
                {"version":"1.0","resource":"/{proxy+}","path":"%s","httpMethod":"%s",%s
                 "requestContext":{"accountId":"123456789012","apiId":"api2","domainName":"api2.execute-api.eu-west-1.amazonaws.com",
                  "httpMethod":"%s","identity":{"sourceIp":"203.0.113.8","userAgent":"test/1"},"path":"/prod%s","protocol":"HTTP/1.1",
                  "stage":"prod","requestId":"r"},
                 "stageVariables":null,"isBase64Encoded":false}""".formatted(path, method, more, method, path);
    }

    /** An Application Load Balancer. {@code more} are further members, each followed by a comma. */
    static String balancer(String path, String more) {
        return """
                {"requestContext":{"elb":{"targetGroupArn":"arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/t/1"}},
                 "httpMethod":"GET","path":"%s",%s
                 "body":"","isBase64Encoded":false}""".formatted(path, more);
    }

    /** A JSON text of any text. */
    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
