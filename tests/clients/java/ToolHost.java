// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs the main methods of Apache Kafka's tools one after the other in one JVM, as a shell would run them in many.
 *
 * A tool that ends the JVM is unwound instead; what it says on the way (some catch everything) is dropped, and what it
 * left to be done at the end of the JVM is done when it returns.
 *
 * A line of standard input is a call: class, standard input and arguments, each in base64, separated by blanks. The
 * answer is a line with the exit code, the output and the error output, in base64 too.
 */
public class ToolHost {
    /** Unwinds a tool that wants to end the JVM. */
    private static final class Ended extends RuntimeException { }

    private static final List<Runnable> hooks = new ArrayList<>();
    private static Integer exitCode;

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        Exit.setExitProcedure((code, message) -> end(code));
        Exit.setHaltProcedure((code, message) -> end(code));
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        BufferedReader calls = new BufferedReader(new InputStreamReader(System.in));
        for (String line = calls.readLine(); line != null; line = calls.readLine()) {
            byte[][] parts = Arrays.stream(line.split(" ", -1)).map(Base64.getDecoder()::decode).toArray(byte[][]::new);
            answers.println(call(parts));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static void end(int code) {
        if (exitCode == null) {
            exitCode = code;
            System.setOut(new PrintStream(OutputStream.nullOutputStream()));
            System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        }
        throw new Ended();
    }

    private static String call(byte[][] parts) throws Exception {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        PrintStream outputBefore = System.out;
        PrintStream errorsBefore = System.err;
        System.setIn(new ByteArrayInputStream(parts[1]));
        System.setOut(new PrintStream(output, true, "UTF-8"));
        System.setErr(new PrintStream(errors, true, "UTF-8"));
        exitCode = null;
        try {
            String[] arguments = Arrays.stream(parts).skip(2).map(String::new).toArray(String[]::new);
            run(new String(parts[0]), arguments);
            hooks.forEach(Runnable::run);
        } finally {
            hooks.clear();
            System.out.flush();
            System.err.flush();
            System.setOut(outputBefore);
            System.setErr(errorsBefore);
        }
        return (exitCode == null ? 0 : exitCode) + " " + encode(output) + " " + encode(errors);
    }

    private static void run(String name, String[] arguments) throws Exception {
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException failure) {
            if (exitCode == null) {
                failure.getCause().printStackTrace();
                exitCode = 1;
            }
        }
    }

    private static String encode(ByteArrayOutputStream bytes) {
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }
}
