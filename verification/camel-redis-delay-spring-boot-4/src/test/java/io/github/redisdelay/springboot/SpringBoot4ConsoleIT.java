// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

/** The console in an application on Spring Boot 4. */
class SpringBoot4ConsoleIT extends ConsoleStories {

    @Override
    String withoutSecurity() {
        return "--spring.autoconfigure.exclude="
                + "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration,org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration,org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration,org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration,org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration";
    }
}
