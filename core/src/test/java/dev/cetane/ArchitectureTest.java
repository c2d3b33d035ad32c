package dev.cetane;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;

/**
 * Dependencies point one way, {@code protocol <- worker <- {trace, lambda, shared, task} <- http <- ops <- root}, and what touches the outside
 * world (processes, environment, clock, sockets) is in one place each.
 */
@AnalyzeClasses(packages = "dev.cetane", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {
    private static final String ROOT = "dev.cetane";
    private static final String PROTOCOL = "dev.cetane.protocol..";
    private static final String FASTCGI = "dev.cetane.fastcgi..";
    private static final String LOG = "dev.cetane.log..";
    private static final String WORKER = "dev.cetane.worker..";
    private static final String SHARED = "dev.cetane.shared..";
    private static final String TASK = "dev.cetane.task..";
    private static final String HTTP = "dev.cetane.http..";
    private static final String LAMBDA = "dev.cetane.lambda..";
    private static final String OPS = "dev.cetane.ops..";
    private static final String TRACE = "dev.cetane.trace..";

    private static final Set<String> PROCESS_TYPES =
            Set.of("java.lang.ProcessBuilder", "java.lang.ProcessHandle", "java.lang.Process");

    private static final Set<String> CLOCK_METHODS = Set.of(
            "java.lang.System.nanoTime",
            "java.lang.System.currentTimeMillis",
            "java.time.LocalDate.now",
            "java.time.LocalDateTime.now",
            "java.time.OffsetDateTime.now",
            "java.time.ZonedDateTime.now",
            "java.time.Instant.now",
            "java.time.Clock.systemUTC",
            "java.time.Clock.systemDefaultZone",
            "java.time.Clock.system",
            "java.util.Date.<init>");

    @ArchTest
    static final ArchRule the_protocol_uses_the_jdk_only = classes()
            .that()
            .resideInAPackage(PROTOCOL)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", "org.jspecify..", PROTOCOL)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule reading_forms_uses_the_jdk_only = classes()
            .that()
            .resideInAPackage("dev.cetane.multipart..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", "org.jspecify..", "dev.cetane.multipart..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule what_php_sees_of_a_request_uses_the_jdk_only = classes()
            .that()
            .resideInAPackage("dev.cetane.cgi..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", "org.jspecify..", "dev.cetane.cgi..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule serving_files_uses_the_jdk_and_the_clock_only = classes()
            .that()
            .resideInAPackage("dev.cetane.files..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", "org.jspecify..", PROTOCOL, "dev.cetane.files..")
            .orShould()
            .dependOnClassesThat()
            .haveFullyQualifiedName("dev.cetane.worker.Ticker")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule fastcgi_uses_the_protocol_s_types_only = classes()
            .that()
            .resideInAPackage(FASTCGI)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", "org.jspecify..", PROTOCOL, FASTCGI)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule the_worker_pool_knows_no_front_door = noClasses()
            .that()
            .resideInAPackage(WORKER)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ROOT, SHARED, TASK, TRACE, HTTP, LAMBDA, OPS)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule the_log_knows_nothing_of_the_rest = noClasses()
            .that()
            .resideInAPackage(LOG)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ROOT, PROTOCOL, WORKER, HTTP, LAMBDA, OPS)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule tables_and_tasks_know_workers_only = noClasses()
            .that()
            .resideInAnyPackage(SHARED, TASK)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ROOT, HTTP, LAMBDA, OPS);

    @ArchTest
    static final ArchRule nothing_depends_on_the_root = noClasses()
            .that()
            .resideInAnyPackage(HTTP, LAMBDA, OPS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(ROOT)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule traces_know_workers_and_the_log_only = noClasses()
            .that()
            .resideInAPackage(TRACE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ROOT, SHARED, TASK, HTTP, LAMBDA, OPS);

    /** Only what is loaded where spans or metrics are exported knows the libraries. */
    @ArchTest
    static final ArchRule only_what_exports_knows_the_messages_of_otlp = noClasses()
            .that(areNot("dev.cetane.trace.SpanEncoder"))
            .and(areNot("dev.cetane.trace.CollectorClient"))
            .and(areNot("dev.cetane.ops.OtlpHistograms"))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.opentelemetry..", "com.google.protobuf..");

    @ArchTest
    static final ArchRule http_does_not_know_lambda = noClasses()
            .that()
            .resideInAPackage(HTTP)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(LAMBDA)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule lambda_does_not_know_http = noClasses()
            .that()
            .resideInAPackage(LAMBDA)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(HTTP)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule packages_are_free_of_cycles =
            slices().matching("dev.cetane.(*)..").should().beFreeOfCycles().allowEmptyShould(true);

    @ArchTest
    static final ArchRule only_http_and_ops_use_netty = noClasses()
            .that()
            .resideOutsideOfPackages(HTTP, OPS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.netty..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule only_the_worker_package_handles_processes = noClasses()
            .that()
            .resideOutsideOfPackage(WORKER)
            .should()
            .dependOnClassesThat(
                    DescribedPredicate.describe("are process types", type -> PROCESS_TYPES.contains(type.getName())))
            .orShould()
            .callMethodWhere(target("java.lang.Runtime.exec"))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule only_the_config_loader_reads_the_environment = noClasses()
            .that(areNot("dev.cetane.ConfigLoader"))
            .should()
            .callMethodWhere(target("java.lang.System.getenv"))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule only_the_ticker_reads_the_clock = noClasses()
            .that(areNot("dev.cetane.worker.SystemTicker"))
            .should()
            .accessTargetWhere(DescribedPredicate.describe(
                    "reads the clock",
                    (JavaAccess<?> access) -> CLOCK_METHODS.contains(qualifiedName(access)) && !isConversion(access)))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nobody_sleeps = noClasses()
            .should()
            .callMethodWhere(target("java.lang.Thread.sleep"))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule only_the_root_ends_the_process = noClasses()
            .that(DescribedPredicate.not(resideInAPackage(ROOT)))
            .should()
            .callMethodWhere(target("java.lang.System.exit"))
            .orShould()
            .callMethodWhere(target("java.lang.Runtime.halt"))
            .allowEmptyShould(true);

    /** Every class but the named one and those nested in it. */
    private static DescribedPredicate<JavaClass> areNot(String name) {
        return DescribedPredicate.describe(
                "are not " + name,
                type -> !type.getName().equals(name) && !type.getName().startsWith(name + "$"));
    }

    private static DescribedPredicate<JavaAccess<?>> target(String qualifiedName) {
        return DescribedPredicate.describe(
                "target is " + qualifiedName, access -> qualifiedName(access).equals(qualifiedName));
    }

    private static String qualifiedName(JavaAccess<?> access) {
        AccessTarget target = access.getTarget();
        return target.getOwner().getName() + "." + ((HasName) target).getName();
    }

    /** {@code new Date(long)} converts, {@code new Date()} reads the clock. */
    private static boolean isConversion(JavaAccess<?> access) {
        return access.getTarget() instanceof AccessTarget.ConstructorCallTarget constructor
                && !constructor.getRawParameterTypes().isEmpty();
    }
}
